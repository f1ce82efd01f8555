"""A check run: complete from its first request, its annotations sent 50 a request and none twice."""

import pytest
from github_api.fake import Fault

from ci_toolkit.github.check_runs import Annotation, Check, put_check_run
from ci_toolkit.github.rest import Rest

HEAD = "a" * 40


def check(count: int) -> Check:
    notes = tuple(Annotation(f"t{number}.py", number + 1, "failure", "title", "message") for number in range(count))
    return Check("failure", "FAILED", "summary", notes)


def put(rest: Rest, count: int) -> str:
    return put_check_run(rest, "o/r", "gate", HEAD, check(count), "https://example.org/run")


def paths(github) -> list[str]:
    (notes,) = github.annotations.values()
    return [note["path"] for note in notes]


@pytest.mark.parametrize(("count", "requests"), [(0, 1), (1, 1), (50, 1), (51, 2), (230, 5)])
def test_all_annotations_arrive_in_their_order(github, rest, waits, count: int, requests: int) -> None:
    assert put(rest, count) == f"check run created: failure, {count} annotations"
    assert paths(github) == [f"t{number}.py" for number in range(count)]
    assert [len(request.body["output"]["annotations"]) <= 50 for request in github.requests] == [True] * requests
    assert waits.times == [1.0] * (requests - 1)
    (made,) = github.checks.values()
    assert (made["status"], made["conclusion"], made["head_sha"]) == ("completed", "failure", HEAD)
    assert all(request.body["output"]["summary"] == "summary" for request in github.requests)


@pytest.mark.parametrize("status", [502, 0])
@pytest.mark.parametrize("lost", [True, False], ids=["done", "not done"])
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_no_lost_answer_doubles_or_drops_any(github, rest, method: str, lost: bool, status: int) -> None:
    github.faults.append(Fault(method, "/check-runs", status, lost=lost))
    put(rest, 120)
    assert paths(github) == [f"t{number}.py" for number in range(120)]
    assert len(github.checks) == 1


def test_another_run_of_the_same_name_is_not_taken_for_the_lost_one(github, rest) -> None:
    put(rest, 1)
    github.faults.append(Fault("POST", "/check-runs", 502))
    put(rest, 2)
    assert [len(notes) for notes in github.annotations.values()] == [1, 2]
