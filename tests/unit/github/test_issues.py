"""One issue while it is red: opened once, updated in place, closed when green, whatever people do to it."""

import datetime

import pytest
from github_api.fake import BOT, PERSON, Fault

from ci_toolkit.github.account import Account
from ci_toolkit.github.comments import BODY
from ci_toolkit.github.issues import CAUSES, LABEL, Known, Place, close_green, issue_room, keep_red
from ci_toolkit.github.marker import Mark, RunAt, write_mark
from ci_toolkit.github.rest import Rest

PLACE = Place("o/r", "nightly", Account(BOT["id"], BOT["login"]))
A, B, C = "a" * 16, "b" * 16, "c" * 16
DAYS = [datetime.date(2026, 12, day) for day in range(1, 10)]


def red(rest: Rest, run: int, causes: list[str], day: datetime.date) -> str:
    def text(known: Known) -> str:
        return f"{known.opened} " + " ".join(f"{cause[0]}:{day.day}" for cause, day in known.first.items())

    return keep_red(rest, PLACE, RunAt(run, 1), day, causes, text)


def green(rest: Rest, run: int) -> str:
    return close_green(rest, PLACE, RunAt(run, 1), "Green again.")


def the_issue(github) -> dict:
    (issue,) = [issue for issue in github.issues.values() if issue["state"] == "open"]
    return issue


def text(github) -> str:
    return the_issue(github)["body"].partition("\n")[2]


def test_it_is_opened_updated_and_closed(github, rest) -> None:
    number = red(rest, 1, [A, B], DAYS[0]).split()[1]
    assert the_issue(github)["title"] == "Hardware CI is red: nightly"
    assert [label["name"] for label in the_issue(github)["labels"]] == [LABEL]
    assert red(rest, 2, [B, C], DAYS[1]) == f"issue {number} updated"
    assert text(github) == "2026-11-20 b:1 c:2"
    assert green(rest, 3) == f"issue {number} closed"
    (issue,) = github.issues.values()
    assert (issue["state"], issue["state_reason"]) == ("closed", "completed")
    assert [comment["body"].splitlines()[1] for comment in github.comments.values()] == ["Green again."]
    assert red(rest, 4, [A], DAYS[3]).endswith("opened")
    assert text(github) == "2026-12-04 a:4", "what was green begins anew"


def test_green_without_an_issue_does_nothing(github, rest) -> None:
    assert green(rest, 1) == "no issue is open"
    assert github.writes() == []


@pytest.mark.parametrize("status", [502, 0])
def test_a_lost_answer_does_not_open_two(github, rest, status: int) -> None:
    github.faults.append(Fault("POST", "/issues$", status, lost=True))
    red(rest, 1, [A], DAYS[0])
    assert len(github.issues) == 1
    github.faults.append(Fault("POST", "/comments$", status, lost=True))
    green(rest, 2)
    assert len(github.comments) == 1


def test_a_closing_that_broke_off_is_finished_without_a_second_comment(github, rest) -> None:
    red(rest, 1, [A], DAYS[0])
    github.faults.append(Fault("PATCH", "/issues/", 422))
    with pytest.raises(Exception, match="422"):
        green(rest, 2)
    green(rest, 2)
    assert len(github.comments) == 1
    assert not [issue for issue in github.issues.values() if issue["state"] == "open"]


def test_an_older_run_neither_updates_nor_closes(github, rest) -> None:
    red(rest, 5, [A], DAYS[4])
    assert "left as it is" in red(rest, 4, [B], DAYS[3])
    assert "left as it is" in green(rest, 4)
    assert text(github).endswith("a:5")


def hostile(github, edit: str) -> None:
    issue = the_issue(github)
    match edit:
        case "label":
            issue["labels"] = [{**issue["labels"][0], "name": "p1"}]
        case "title":
            issue["title"] = "our nightly @everyone"
        case "marker":
            issue["body"] = "I edited all of this"
        case "json":
            issue["body"] = issue["body"].replace("{", "[", 1)
        case "future":
            issue["body"] = issue["body"].replace("2026-12-01", "2099-01-01")


@pytest.mark.parametrize("edit", ["label", "title", "marker", "json", "future"])
def test_edits_of_people_neither_lose_nor_double_it(github, rest, edit: str) -> None:
    red(rest, 1, [A], DAYS[0])
    hostile(github, edit)
    red(rest, 2, [A], DAYS[1])
    issue = the_issue(github)
    known = edit in ("label", "title")
    assert text(github) == f"2026-11-20 a:{1 if known else 2}"
    assert issue["title"] == PLACE.title
    assert [label["name"] for label in issue["labels"]] == (["p1", LABEL] if edit == "label" else [LABEL])


def test_two_that_were_opened_at_once_become_one(github, rest) -> None:
    first = {A: DAYS[0]}
    for run in (1, 2):
        github.add_issue(PLACE.title, write_mark("issue", "nightly", Mark(RunAt(run, 1), first)), [LABEL], BOT)
    red(rest, 3, [A], DAYS[2])
    states = [(issue["state"], issue["state_reason"]) for issue in github.issues.values()]
    assert states == [("open", None), ("closed", "not_planned")]
    assert text(github).endswith("a:1")


def test_issues_and_pull_requests_of_others_are_left_alone(github, rest) -> None:
    marker = write_mark("issue", "nightly", Mark(RunAt(99, 1)))
    github.add_issue(PLACE.title, marker, [LABEL], PERSON)
    github.add_issue(PLACE.title, marker, [LABEL], BOT | {"id": 5})
    github.add_issue("other", write_mark("issue", "nightly.h200", Mark(RunAt(99, 1))), [LABEL], BOT)
    link = "https://api.github.com/repos/o/r/pulls/1"
    pull = github.add_issue(PLACE.title, marker, [LABEL], BOT)
    pull["pull_request"] = {"url": link, "html_url": link, "diff_url": link, "patch_url": link}
    assert red(rest, 1, [A], DAYS[0]).endswith("opened")
    assert len(github.issues) == 5
    assert green(rest, 2).endswith("closed")
    assert sum(issue["state"] == "open" for issue in github.issues.values()) == 4


def test_as_many_causes_as_can_be_fit(github, rest) -> None:
    causes = [f"{number:016x}" for number in range(CAUSES + 50)]
    keep_red(rest, PLACE, RunAt((1 << 53) - 1, 10**8), DAYS[0], causes, lambda known: "x" * issue_room())
    assert len(the_issue(github)["body"]) <= BODY
    assert the_issue(github)["body"].count("2026-12-01") == CAUSES
