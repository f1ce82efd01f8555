"""A worker's environment holds what is allowed by name, and nothing else of the host's."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_toolkit.model.secrets import HIDDEN, redacted
from ci_toolkit.workers.environment import ALLOWED, FIXED, worker_environment

HOST = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "LC_ALL": "C.UTF-8",
    "LD_LIBRARY_PATH": "/opt/lib",
    "TMPDIR": "/gone/with/the/scheduler",
    "PYTHONPATH": "/elsewhere",
    "PYTHONSTARTUP": "/elsewhere/start.py",
    "PYTEST_ADDOPTS": "--collect-only",
    "GITHUB_TOKEN": "ghs_1",
    "GITHUB_ACTIONS": "true",
    "ACTIONS_RUNTIME_TOKEN": "a",
    "CI": "true",
    "MY_KNOB": "1",
    "MY_TOKEN": "t",
    "CUDA_VISIBLE_DEVICES": "3",
}


def test_the_default():
    assert worker_environment(HOST, (), {}, "/tmp/w") == {
        "HOME": "/home/me",
        "LC_ALL": "C.UTF-8",
        "LD_LIBRARY_PATH": "/opt/lib",
        "PATH": "/bin",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYTHONUNBUFFERED": "1",
        "TEMP": "/tmp/w",
        "TMP": "/tmp/w",
        "TMPDIR": "/tmp/w",
        "XDG_CACHE_HOME": "/tmp/w/cache",
    }


def test_names_and_globs_allow_more():
    environment = worker_environment(HOST, ("MY_*", "CI"), {}, "/tmp/w")
    assert environment["MY_KNOB"] == "1"
    assert environment["CI"] == "true"
    assert "MY_TOKEN" not in environment


@pytest.mark.parametrize("allow", ["*", "GITHUB_*", "P*", "ACTIONS_*", "MY_*"])
def test_a_glob_hands_out_no_rights_and_no_code(allow):
    environment = worker_environment(HOST, (allow,), {}, "/tmp/w")
    assert not environment.keys() & {
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PYTEST_ADDOPTS",
        "GITHUB_TOKEN",
        "GITHUB_ACTIONS",
        "ACTIONS_RUNTIME_TOKEN",
        "MY_TOKEN",
    }


def test_an_exact_name_allows_anything():
    assert worker_environment(HOST, ("GITHUB_TOKEN",), {}, "/tmp/w")["GITHUB_TOKEN"] == "ghs_1"


def test_settings_stand_above_all():
    settings = {"PATH": "/mine", "PYTHONHASHSEED": "7", "TMPDIR": "/scratch", "PYTHONPATH": "src"}
    environment = worker_environment(HOST, (), settings, "/tmp/w")
    assert settings.items() <= environment.items()


names = st.text(string.ascii_uppercase + "_", min_size=1, max_size=30)


@given(st.dictionaries(names, st.text(max_size=5)))
def test_nothing_comes_in_unasked(host):
    fixed = set(FIXED) | {"TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME"}
    exact = {name for name in ALLOWED if "*" not in name}
    for name in worker_environment(host, (), {}, "/tmp/w"):
        assert name in fixed | exact or name.startswith("LC_")


def test_evidence_holds_no_secret():
    environment = {
        "HF_TOKEN": "hf_1",
        "AWS_SECRET_ACCESS_KEY": "s",
        "db_password": "p",
        "WANDB_API_KEY": "w",
        "https_proxy": "http://me:word@proxy:3128",
        "PATH": "/bin",
        "TOKENIZERS_PARALLELISM": "false",
    }
    hidden = redacted(environment)
    assert hidden["https_proxy"] == f"http://{HIDDEN}@proxy:3128"
    assert hidden["PATH"] == "/bin"
    assert {hidden[name] for name in ("HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "db_password", "WANDB_API_KEY")} == {HIDDEN}
