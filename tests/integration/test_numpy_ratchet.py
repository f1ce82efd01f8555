"""NumPy's own tests against the reviewed ratchet of this repository: green as it is, red for each planted change.

The fast tier judges the sampled files; with CI_FULL=1 the whole of NumPy's core is run and judged.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
LANE = "numpy-core-cpu"
FULL = os.environ.get("CI_FULL") == "1"
TODAY = "2026-12-01"

pytestmark = pytest.mark.xdist_group("numpy")


def why_not() -> str:
    if sys.version_info[:2] != (3, 11) or platform.system() != "Linux" or platform.machine() != "x86_64":
        return "the ratchet of numpy-core is for Python 3.11 on Linux x86-64"
    try:
        return "" if metadata.version("numpy") == "2.4.1" else "the ratchet of numpy-core is for NumPy 2.4.1"
    except metadata.PackageNotFoundError:
        return "NumPy is not installed"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with this repository's conf and the evidence of one run of the lane."""
    if why_not():
        pytest.skip(why_not())
    folder = tmp_path_factory.mktemp("numpy")
    shutil.copytree(REPOSITORY / "conf", folder / "conf")
    text = (folder / "conf/suites.yml").read_text(encoding="utf-8")
    assert "numpy-core:" in text
    ran = toolkit(folder, "ci", "--only", LANE, *(["--full"] if FULL else []), "--today", TODAY)
    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-5000:]
    return folder


def toolkit(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ci_toolkit", *args], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture
def conf(run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run / "conf", tmp_path / "conf"))


def findings(run: Path, conf: Path, today: str = TODAY) -> tuple[int, set[str]]:
    """The gate's exit code and the blocking kinds, judging the run's evidence with another conf."""
    verdict = conf.parent / "verdict.json"
    ran = toolkit(
        conf.parent,
        *("gate", "--plan", str(run / "out/plan.json"), "--out", str(run / "out")),
        *("--conf", str(conf), "--today", today, "--verdict", str(verdict)),
    )
    assert "Traceback" not in ran.stderr, ran.stderr
    document = json.loads(verdict.read_text(encoding="utf-8"))
    return ran.returncode, {found["kind"] for found in document["findings"] if found.get("blocks", True)}


def test_unchanged_it_is_green(run: Path, conf: Path) -> None:
    assert findings(run, conf) == (0, set())


def replaced(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {path.name}"
    path.write_text(text.replace(old, new), encoding="utf-8")


MEMBERS = "ratchets/numpy-core/members/numpy/_core/tests/test_half.py.txt"
PLATFORM = "ratchets/numpy-core/cpu.yml"
PASSES = """
  passes-now:
    outcome: failed
    match: any
    reason: planted by a test
    expires: 2027-06-30
    cases:
      numpy/_core/tests/test_half.py: ["TestHalf::test_half_ordering"]
"""


def change_an_expectation(conf: Path) -> None:
    replaced(
        conf / PLATFORM,
        'test_arrayprint.py: ["TestArrayRepr::test_object_subclass"]',
        'test_arrayprint.py: ["TestArrayRepr::test_object_subclass"]\n'
        "  planted:\n    outcome: skipped\n    reason: planted by a test\n    expires: 2027-06-30\n"
        "    cases:\n"
        '      numpy/_core/tests/test_numeric.py: ["TestNonarrayArgs::test_round_py_consistency"]',
    )
    text = (conf / PLATFORM).read_text(encoding="utf-8")
    start = text.index("  round-differs-from-python:")
    end = text.index("\n  long-double-as-string:", start)
    (conf / PLATFORM).write_text(text[:start] + text[end + 1 :], encoding="utf-8")


def change_a_signature(conf: Path) -> None:
    text = (conf / PLATFORM).read_text(encoding="utf-8")
    start = text.index("signature: ", text.index("groups:")) + len("signature: ")
    end = text.index("\n", start)
    (conf / PLATFORM).write_text(f'{text[:start]}"OtherError call nowhere:f"{text[end:]}', encoding="utf-8")


def remove_a_member(conf: Path) -> None:
    lines = (conf / MEMBERS).read_text(encoding="utf-8").splitlines(keepends=True)
    (conf / MEMBERS).write_text("".join(lines[1:]), encoding="utf-8")


def add_a_member(conf: Path) -> None:
    text = (conf / MEMBERS).read_text(encoding="utf-8")
    (conf / MEMBERS).write_text("TestHalf::test_of_another_version\n" + text, encoding="utf-8")


def drop_a_reason(conf: Path) -> None:
    text = (conf / PLATFORM).read_text(encoding="utf-8")
    start = text.index("    reason: ", text.index("groups:"))
    (conf / PLATFORM).write_text(text[:start] + text[text.index("\n", start) + 1 :], encoding="utf-8")


def expire_a_group(conf: Path) -> None:
    text = (conf / PLATFORM).read_text(encoding="utf-8")
    assert "expires: 2027-06-30" in text
    (conf / PLATFORM).write_text(text.replace("expires: 2027-06-30", "expires: 2026-11-30", 1), encoding="utf-8")


def miscount_a_glob(conf: Path) -> None:
    replaced(
        conf / PLATFORM,
        '{glob: "test_addition_reduce_negative_zero[False-*]", count: 7}',
        '{glob: "test_addition_reduce_negative_zero[False-*]", count: 6}',
    )


def expect_a_failure_that_passes(conf: Path) -> None:
    text = (conf / PLATFORM).read_text(encoding="utf-8")
    (conf / PLATFORM).write_text(text.rstrip("\n") + PASSES, encoding="utf-8")


def lower_a_ceiling(conf: Path) -> None:
    text = (conf / PLATFORM).read_text(encoding="utf-8")
    (conf / PLATFORM).write_text(text.replace("ceiling: 704", "ceiling: 703"), encoding="utf-8")


def name_another_contract(conf: Path) -> None:
    replaced(conf / PLATFORM, "package.numpy: 2.4.1", "package.numpy: 2.3.0")


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (change_an_expectation, "changed_outcome"),
        (change_a_signature, "changed_failure"),
        (remove_a_member, "unlisted_case"),
        (add_a_member, "missing"),
        (drop_a_reason, "unreviewed"),
        (expire_a_group, "expired"),
        (miscount_a_glob, "glob_count"),
        (expect_a_failure_that_passes, "unexpected_pass"),
        (lower_a_ceiling, "skip_ceiling"),
        (name_another_contract, "contract_changed"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_planted_change_is_red_with_its_own_kind(
    run: Path, conf: Path, change: Callable[[Path], None], kind: str
) -> None:
    change(conf)
    code, kinds = findings(run, conf)
    assert kinds == {kind}
    assert code == (3 if kind == "missing" else 1)
