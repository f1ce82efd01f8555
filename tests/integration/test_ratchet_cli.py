"""A ratchet's life: proposed by a run, refused unreviewed, accepted with a reason, promoted when a case passes."""

import json

import pytest

SUITE = """
schema: suites/1
suites: {small: {platforms: [cpu], root: {path: tests}, paths: [.], ratchet: ratchets/small}}
"""
TESTS = """
import pytest

def test_one(): pass

@pytest.mark.parametrize("n", [1, 2, 3])
def test_odd(n): assert n % 2, "even"

def test_key(): {}["no"]

@pytest.mark.skip(reason="no card")
def test_card(): pass

@pytest.mark.xfail(reason="known upstream", strict=False)
def test_known(): raise ValueError("known")
"""


def kinds(project) -> list[str]:
    document = json.loads((project.folder / "out/verdict.json").read_text(encoding="utf-8"))
    return sorted(finding["kind"] for finding in document["findings"] if finding.get("blocks", True))


@pytest.fixture
def small(project):
    project.write("conf/suites.yml", SUITE)
    project.write("tests/test_a.py", TESTS)
    (project.folder / "conf/ratchets/small").mkdir(parents=True)
    return project


def propose(project, attempt: int):
    return project.toolkit("ratchet", "propose", "small-cpu", "--evidence", f"out/small-cpu/a{attempt}")


def test_from_proposal_to_promotion(small) -> None:
    assert small.toolkit("ci").returncode == 1
    assert "no_ratchet" in kinds(small)

    proposed = propose(small, 1)
    assert proposed.returncode == 0, proposed.stderr
    proposal = (small.folder / "out/proposals/small/cpu.yml").read_text(encoding="utf-8")
    assert proposal.count("UNREVIEWED") == 4, proposal
    again = propose(small, 1)
    assert again.returncode == 2
    assert "a proposal already" in again.stderr

    accept = ("ratchet", "accept", "small-cpu", "out/proposals/small")
    for reason in ("", " ", "UNREVIEWED"):
        refused = small.toolkit(*accept, "--reason", reason)
        assert refused.returncode == 2
        assert not (small.folder / "conf/ratchets/small/cpu.yml").exists()
    accepted = small.toolkit(*accept, "--reason", "seen on 2026-12-01, issue 7")
    assert accepted.returncode == 0, accepted.stderr
    judged = small.toolkit("ci")
    assert judged.returncode == 0, judged.stdout + judged.stderr

    test = small.folder / "tests/test_a.py"
    test.write_text(TESTS.replace('{}["no"]', "pass"), encoding="utf-8")
    assert small.toolkit("ci").returncode == 1
    assert kinds(small) == ["unexpected_pass"]
    promoted = small.toolkit("ratchet", "promote", "small-cpu", "--evidence", "out/small-cpu/a3")
    assert promoted.returncode == 0, promoted.stderr
    assert "test_key" in promoted.stdout
    after = small.toolkit("ci")
    assert after.returncode == 0, after.stdout + after.stderr

    test.write_text(TESTS, encoding="utf-8")
    assert small.toolkit("ci").returncode == 1
    assert kinds(small) == ["regression"]


def test_a_promotion_keeps_comments_and_all_other_lines(small) -> None:
    small.toolkit("ci")
    propose(small, 1)
    small.toolkit("ratchet", "accept", "small-cpu", "out/proposals/small", "--reason", "reviewed")
    path = small.folder / "conf/ratchets/small/cpu.yml"
    before = "# Reviewed by hand.\n" + path.read_text(encoding="utf-8")
    path.write_text(before, encoding="utf-8")
    (small.folder / "tests/test_a.py").write_text(TESTS.replace("n % 2", "n % 2 or n"), encoding="utf-8")
    small.toolkit("ci")
    assert small.toolkit("ratchet", "promote", "small-cpu", "--evidence", "out/small-cpu/a2").returncode == 0
    after = path.read_text(encoding="utf-8")
    removed = [line for line in before.splitlines() if line not in after.splitlines()]
    assert after.startswith("# Reviewed by hand.\n")
    assert set(after.splitlines()) <= set(before.splitlines())
    assert any("test_odd[2]" in line for line in removed)
    assert not any("test_key" in line for line in removed)


def test_a_proposal_is_refused_for_a_run_that_can_not_say_what_is_normal(small) -> None:
    small.write("tests/test_b.py", "import os\nos._exit(0)\n")
    assert small.toolkit("ci").returncode == 3
    crashed = propose(small, 1)
    assert crashed.returncode == 3
    assert "can not be expected" in crashed.stderr
    small.toolkit("ci", "--unit", "test_a.py")
    partial = propose(small, 2)
    assert partial.returncode == 3
    assert "a part of its suite" in partial.stderr


def test_stale_lists_what_is_expired_unreviewed_or_names_nothing(small) -> None:
    small.write(
        "conf/ratchets/small/cpu.yml",
        """
        schema: ratchet/1
        groups:
          old: {outcome: failed, match: any, reason: r, expires: 2026-11-01, cases: {test_a.py: [test_key]}}
          soon: {outcome: failed, match: any, reason: r, expires: 2026-12-20, cases: {test_a.py: [test_one]}}
          gone: {outcome: failed, match: any, reason: r, expires: 2027-11-01, cases: {test_a.py: [test_gone]}}
          new: {outcome: failed, match: any, reason: UNREVIEWED, expires: 2027-11-01, cases: {test_a.py: [test_card]}}
        """,
    )
    small.write("conf/ratchets/small/members/test_a.py.txt", "test_card\ntest_key\ntest_one\n")
    today = ("--today", "2026-12-01")
    found = small.toolkit("ratchet", "stale", *today)
    assert found.returncode == 1
    assert [line.split(": ", 2)[2] for line in found.stdout.splitlines()] == [
        "expired on 2026-11-01",
        "'test_gone' names no member",
        "is not reviewed",
    ]
    wider = json.loads(small.toolkit("ratchet", "stale", "--days", "30", "--json", *today).stdout)
    assert len(wider) == 4
    shown = small.toolkit("ratchet", "show")
    assert shown.returncode == 0
    assert "soon" in shown.stdout
