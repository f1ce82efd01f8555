"""Labels of runners name accelerators, or do not."""

import pytest

from ci_toolkit.adoption.accelerators import accelerator, is_self_hosted


@pytest.mark.parametrize(
    ("labels", "platform", "arch"),
    [
        (["self-hosted", "linux", "h200"], "cuda_h200", "sm_90"),
        (["self-hosted", "cuda", "8xH100"], "cuda_h100", "sm_90"),
        (["linux.aws.a100x4"], "cuda_a100", "sm_80"),
        (["self-hosted", "gpu", "cuda12"], "cuda", "*"),
        (["self-hosted", "NVIDIA"], "cuda", "*"),
        (["self-hosted", "mi300x-8"], "rocm_mi300x", "*"),
        (["linux-mi325-gpu"], "rocm_mi325", "*"),
        (["self-hosted", "rocm"], "rocm", "*"),
        (["linux.arm64.npu.4"], "ascend", "*"),
        (["self-hosted", "xpu"], "xpu", "*"),
        (["self-hosted", "gpu"], "gpu", "*"),
    ],
)
def test_a_card_is_named(labels, platform, arch) -> None:
    found = accelerator(labels)
    assert found is not None
    assert (found.platform, found.arch) == (platform, arch)


@pytest.mark.parametrize("labels", [["self-hosted", "linux", "x64"], ["builder"], ["arm64"], ["amd64"], [""], []])
def test_nothing_is_named(labels) -> None:
    assert accelerator(labels) is None


@pytest.mark.parametrize(
    "label",
    ["ubuntu-latest", "ubuntu-24.04", "ubuntu-24.04-arm", "ubuntu-slim", "windows-2025-vs2026", "macos-15-xlarge"],
)
def test_machines_of_github_are_nobodys(label) -> None:
    assert not is_self_hosted([label])


@pytest.mark.parametrize("labels", [["self-hosted"], ["h200"], ["ubuntu-24.04-h100"], ["self-hosted", "ubuntu-24.04"]])
def test_other_machines_are_somebodys(labels) -> None:
    assert is_self_hosted(labels)
