"""The client: patient within bounds, paced, never twice, and silent about its token."""

import json
import traceback

import pytest
from github_api.fake import BOT, FakeGitHub, Fault

from ci_toolkit.errors import RemoteError, UsageError
from ci_toolkit.github.account import own_account
from ci_toolkit.github.comments import Comment
from ci_toolkit.github.rest import PATIENCE_S, TRIES, Rest

COMMENTS = "/repos/o/r/issues/7/comments"
TOKEN = "ghs_thisIsASecretToken0123456789"


def bodies(rest: Rest) -> list[str | None]:
    return [comment.body for comment in rest.pages(COMMENTS, Comment)]


def create(rest: Rest, body: str = "one") -> Comment:
    return rest.create(
        COMMENTS,
        {"body": body},
        Comment,
        lambda: next((found for found in rest.pages(COMMENTS, Comment) if found.body == body), None),
        needs="pull-requests: write",
    )


def test_a_list_is_read_to_its_end(github, rest) -> None:
    for number in range(230):
        github.add_comment(7, str(number))
    assert bodies(rest) == [str(number) for number in range(230)]
    assert [request.query.get("page") for request in github.requests] == [None, "2", "3"]


def test_writes_are_a_second_apart_and_reads_do_not_wait(github, rest, waits) -> None:
    for body in ("a", "b", "c"):
        create(rest, body)
        assert bodies(rest)
    assert waits.times == [1.0, 1.0]


@pytest.mark.parametrize("status", [500, 502, 503, 0])
def test_errors_of_the_service_pass_with_growing_waits(github, rest, waits, status: int) -> None:
    github.add_comment(7, "there")
    github.faults.append(Fault("GET", COMMENTS, status, times=3))
    assert bodies(rest) == ["there"]
    assert waits.times == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("status", [502, 0])
@pytest.mark.parametrize("lost", [True, False], ids=["done", "not done"])
def test_what_was_created_although_the_answer_was_lost_is_not_created_again(
    github, rest, status: int, lost: bool
) -> None:
    github.faults.append(Fault("POST", COMMENTS, status, lost=lost))
    made = create(rest)
    assert [comment["id"] for comment in github.comments.values()] == [made.id]
    assert len(github.writes()) == (1 if lost else 2)


def test_what_the_last_try_created_is_found(github, rest) -> None:
    github.faults.append(Fault("POST", COMMENTS, 502, times=TRIES - 1))
    github.faults.append(Fault("POST", COMMENTS, 502, lost=True))
    assert create(rest).body == "one"
    assert len(github.comments) == 1


LIMITS = [
    (Fault("POST", COMMENTS, 429, {"Retry-After": "17"}), [17.0]),
    (Fault("POST", COMMENTS, 403, {"Retry-After": "17"}), [17.0]),
    (Fault("POST", COMMENTS, 403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1790000100"}), [101.0]),
    # This machine's clock is wrong; the service's own tells how long it is.
    (
        Fault(
            "POST",
            COMMENTS,
            403,
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000030", "Date": "Fri, 15 Jan 2027 08:00:00 GMT"},
        ),
        [31.0],
    ),
    (Fault("POST", COMMENTS, 403, body=b'{"message": "You have exceeded a secondary rate limit"}', times=2), [60, 120]),
    (Fault("POST", COMMENTS, 429, {"Retry-After": "soon"}), [60.0]),
]


@pytest.mark.parametrize(("fault", "waited"), LIMITS)
def test_a_limit_is_waited_for_as_long_as_github_says(github, rest, waits, fault: Fault, waited: list[float]) -> None:
    fault = Fault(**vars(fault))
    github.faults.append(fault)
    create(rest)
    assert waits.times == waited
    assert len(github.comments) == 1
    assert len(waits.told) == len(waited)
    assert all(line.startswith("waiting ") for line in waits.told)
    assert not [request for request in github.requests if request.method == "GET"], (
        "nothing was done: nothing is looked for"
    )


def test_a_limit_that_is_too_long_is_told_at_once(github, rest, waits) -> None:
    github.faults.append(Fault("GET", COMMENTS, 403, {"Retry-After": "3600"}))
    with pytest.raises(RemoteError, match="asked again in 3600 s"):
        bodies(rest)
    assert waits.times == []


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_patience_ends(github, rest, waits, method: str) -> None:
    github.faults.append(Fault(method, COMMENTS, 503, body=b"<html>", times=1000))
    with pytest.raises(RemoteError, match="failed 6 times"):
        create(rest) if method == "POST" else bodies(rest)
    assert sum(request.method == method for request in github.requests) == TRIES
    assert sum(waits.times) <= PATIENCE_S


def test_patience_is_for_all_requests_together(github, rest, waits) -> None:
    github.faults.append(Fault("GET", COMMENTS, 429, {"Retry-After": "250"}, times=3))
    with pytest.raises(RemoteError, match="too long"):
        bodies(rest)
    assert waits.times == [250.0, 250.0]


@pytest.mark.parametrize(
    ("status", "headers", "message", "told"),
    [
        (401, {}, "Bad credentials", "look at GITHUB_TOKEN"),
        (403, {}, "Resource not accessible by integration", "the token lacks pull-requests: write"),
        (
            403,
            {"x-accepted-github-permissions": "issues=write; pull_requests=write"},
            "No",
            "issues: write or pull-req",
        ),
        (404, {}, "Not Found", "it is not there, or the token lacks pull-requests: write"),
        (422, {}, "Validation Failed", "422 Validation Failed: body is too long"),
        (307, {"Location": "https://api.github.com/repositories/1"}, "Moved", "moved or renamed"),
    ],
)
def test_a_refusal_is_one_line_that_says_what_to_do(github, rest, waits, status, headers, message, told) -> None:
    body = json.dumps({"message": f"{message}\x1b[31m\n", "errors": [{"message": "body is too long"}, "odd", {}]})
    github.faults.append(Fault("POST", COMMENTS, status, headers, body.encode()))
    with pytest.raises(RemoteError) as caught:
        create(rest)
    line = str(caught.value)
    assert told in line
    assert f"POST {COMMENTS}" in line
    assert line.isprintable()
    assert waits.times == []
    assert len(github.requests) == 1


@pytest.mark.parametrize("body", [b"<html>", b"", b"[1]", b'{"id": "x"}', b"[" * 100_000, b'"\xff"'])
def test_an_answer_that_is_not_githubs_is_one_line(github, rest, body: bytes) -> None:
    github.faults.append(Fault("GET", COMMENTS, 200, body=body))
    with pytest.raises(RemoteError, match="GITHUB_API_URL"):
        bodies(rest)


@pytest.mark.parametrize("query", ["{}/elsewhere", "{}" + COMMENTS + "?per_page=100"])
def test_pages_elsewhere_or_without_an_end_are_refused(github, rest, query: str) -> None:
    with FakeGitHub() as other:
        link = query.format(other.url if "elsewhere" in query else github.url)
        headers = {"Link": f'<{link}>; rel="next"'}
        github.faults.append(Fault("GET", COMMENTS, 200, headers, b"[]", times=5))
        with pytest.raises(RemoteError, match="refused"):
            bodies(rest)
        assert other.requests == []
    assert len(github.requests) < 4


def test_a_redirect_elsewhere_gets_no_token(github, rest) -> None:
    with FakeGitHub() as other:
        other.faults.append(Fault("GET", "/archive", 200, body=b'{"id": 3}'))
        github.faults.append(Fault("GET", "/artifact", 302, {"Location": f"{other.url}/archive"}))
        assert rest.get("/artifact", Comment).id == 3
        (request,) = other.requests
    assert "authorization" not in request.headers
    assert TOKEN not in repr(request)


def test_a_netrc_does_not_replace_the_token(github, rest, tmp_path, monkeypatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    bodies(rest)
    assert github.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("status", [200, 400, 403, 404, 429, 503])
def test_a_token_that_the_service_repeats_is_in_no_text(github, rest, waits, status: int) -> None:
    echo = json.dumps({"message": f"bad token {TOKEN}", "errors": [{"message": TOKEN}], "id": TOKEN}).encode()
    headers = {"x-accepted-github-permissions": TOKEN, "Link": f'<http://{TOKEN}/>; rel="next"'}
    github.faults.append(Fault("GET", COMMENTS, status, headers, echo, times=100))
    with pytest.raises(RemoteError) as caught:
        bodies(rest)
    shown = "".join(traceback.format_exception(caught.value))
    assert TOKEN not in f"{shown}{caught.value!r}{rest!r}{vars(rest)}{waits.told}"


def test_a_service_that_is_not_there_is_one_line(waits) -> None:
    with FakeGitHub() as gone:
        url = gone.url
    with Rest(url, TOKEN, waits.clock()) as rest, pytest.raises(RemoteError, match="refused") as caught:
        bodies(rest)
    assert str(caught.value).isprintable()
    assert len(waits.times) == TRIES - 1


def test_a_certificate_that_is_none_is_not_tried_again(github, waits) -> None:
    with (
        Rest(github.url.replace("http:", "https:"), TOKEN, waits.clock()) as rest,
        pytest.raises(RemoteError, match="REQUESTS_CA_BUNDLE"),
    ):
        bodies(rest)
    assert waits.times == []


@pytest.mark.parametrize(
    "url",
    [
        "http://github.example.org/api/v3",
        "https://user:secret@github.example.org",
        "ftp://github.example.org",
        "github.example.org",
        "https://",
        "https://[",
        "https://github.example.org:99999",
        "https://github.example.org/?a=1",
    ],
)
def test_an_address_that_must_not_get_a_token_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="GITHUB_API_URL") as caught:
        Rest(url, TOKEN)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("token", ["", "a\nb", "a\r\nX-Injected: 1", "tok en", "t\u00f6ken"])
def test_a_token_that_is_none_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(UsageError, match="GITHUB_TOKEN") as caught:
        Rest("https://api.github.com", token)
    assert token not in str(caught.value) or not token


def test_an_enterprise_server_has_its_own_addresses(waits) -> None:
    with FakeGitHub("/api/v3") as github, Rest(f"{github.url}/", TOKEN, waits.clock()) as rest:
        github.add_comment(7, "there")
        assert bodies(rest) == ["there"]
        assert own_account(rest).id == BOT["id"]
        assert [request.path for request in github.requests] == [f"/api/v3{COMMENTS}", "/api/graphql"]
    assert github.violations == []


def test_the_stand_in_refuses_what_githubs_description_does_not_know(rest) -> None:
    with FakeGitHub() as github, Rest(github.url, TOKEN) as client:
        with pytest.raises(RemoteError, match="422"):
            client.create(COMMENTS, {"text": "no body"}, Comment, lambda: None)
        github.add_comment(7, "there")["user"]["id"] = "no number"
        with pytest.raises(RemoteError):
            bodies(client)
        assert len(github.violations) == 2
