"""A stateful stand-in for GitHub's REST API, which can fail as GitHub does. Use it as a context manager."""

import json
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

from github_api.description import description

BASE = "b" * 40
BOT = {"login": "github-actions[bot]", "id": 41898282, "type": "Bot"}
PERSON = {"login": "octocat", "id": 1, "type": "User"}
STRANGER = {"login": "stranger", "id": 77, "type": "User"}


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class Fault:
    """What happens to the next ``times`` requests of a kind.

    With ``lost`` the request is carried out and its answer is not delivered; ``status`` 0 cuts the connection.
    """

    method: str
    path: str
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b'{"message": "fault"}'
    lost: bool = False
    times: int = 1

    def takes(self, request: Request) -> bool:
        return self.times > 0 and request.method == self.method and bool(re.search(self.path, request.path))


class FakeGitHub:
    """The repository ``o/r``. ``violations`` must stay empty: it lists what broke GitHub's description."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.me: dict[str, Any] = BOT
        self.comments: dict[int, dict[str, Any]] = {}
        self.issues: dict[int, dict[str, Any]] = {}
        self.pulls: dict[int, dict[str, Any]] = {}
        self.permissions: dict[str, str] = {}
        self.checks: dict[int, dict[str, Any]] = {}
        self.annotations: dict[int, list[dict[str, Any]]] = {}
        self.requests: list[Request] = []
        self.faults: list[Fault] = []
        self.violations: list[str] = []
        self.before: Callable[[Request], None] = lambda request: None
        self._lock = threading.RLock()
        self._ids = 1000
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{self.prefix}"

    def new_id(self) -> int:
        self._ids += 1
        return self._ids

    def writes(self) -> list[Request]:
        """The requests that change something."""
        return [one for one in self.requests if one.method != "GET" and not one.path.endswith("/graphql")]

    def add_comment(self, number: int, body: str, user: dict[str, Any] = PERSON) -> dict[str, Any]:
        found = self.new_id()
        made = description().example("issue-comment")
        made.update(id=found, body=body, issue_url=f"{self.url}/repos/o/r/issues/{number}")
        made["user"].update(user)
        self.comments[found] = made
        return made

    def add_issue(
        self, title: str, body: str, labels: Iterable[str] = (), user: dict[str, Any] = PERSON
    ) -> dict[str, Any]:
        found = self.new_id()
        made = description().example("issue")
        for name in ("pull_request", "closed_by", "closed_at", "milestone", "assignee"):
            made[name] = None
        del made["pull_request"]
        made.update(id=found, number=found, title=title, body=body, state="open", state_reason=None, assignees=[])
        made.update(labels=[_label(name) for name in labels], created_at="2026-11-20T02:00:00Z")
        made["user"].update(user)
        self.issues[found] = made
        return made

    def add_pull(self, number: int, head: str, state: str = "open", base: str = BASE) -> None:
        (made,) = description().example("pull-request-simple-items")[:1]
        made.update(number=number, state=state, requested_teams=[])
        made["head"]["sha"] = head
        made["base"]["sha"] = base
        self.pulls[number] = made

    def handle(self, request: Request, raw: bytes) -> tuple[int, dict[str, str], bytes]:
        """The answer to a request; status 0 is a cut connection."""
        with self._lock:
            self.requests.append(request)
            self.before(request)
            fault = next((one for one in self.faults if one.takes(request)), None)
            if fault:
                fault.times -= 1
                if fault.lost:
                    self._answer(request, raw)
                return fault.status, fault.headers, fault.body
            return self._answer(request, raw)

    def _answer(self, request: Request, raw: bytes) -> tuple[int, dict[str, str], bytes]:
        if request.path.endswith("/graphql"):
            viewer = {"login": self.me["login"], "databaseId": self.me["id"]}
            return 200, {}, json.dumps({"data": {"viewer": viewer}}).encode()
        path = request.path.removeprefix(self.prefix)
        why = description().request_fault(request.method, path, request.query, raw)
        if why:
            self.violations.append(f"{request.method} {path}: {why}")
            return 422, {}, json.dumps({"message": "Validation Failed", "errors": [{"message": why}]}).encode()
        status, answer = self._routed(request, path)
        if status >= 400:
            return status, {}, json.dumps({"message": answer, "documentation_url": "https://docs.github.com"}).encode()
        headers = {}
        if isinstance(answer, _Listed):
            answer, headers = answer.page(request, f"{self.url}{path}")
        content = b"" if status == 204 else json.dumps(answer).encode()
        why = description().answer_fault(request.method, path, request.query, status, content) if content else ""
        if why:
            self.violations.append(f"our answer to {request.method} {path}: {why}")
        return status, headers, content

    def _routed(self, request: Request, path: str) -> tuple[int, Any]:
        for method, pattern, name in _ROUTES:
            match = re.fullmatch(pattern, path)
            if match and method == request.method:
                found: tuple[int, Any] = getattr(self, f"_{name}")(request, *match.groups())
                return found
        return 404, "Not Found"

    def _list_comments(self, request: Request, number: str) -> tuple[int, Any]:
        return 200, _Listed([one for one in self.comments.values() if one["issue_url"].endswith(f"/issues/{number}")])

    def _create_comment(self, request: Request, number: str) -> tuple[int, Any]:
        if len(request.body["body"]) > 65_536:
            return 422, "body is too long (maximum is 65536 characters)"
        return 201, self.add_comment(int(number), request.body["body"], self.me)

    def _edit_comment(self, request: Request, found: str) -> tuple[int, Any]:
        if int(found) not in self.comments:
            return 404, "Not Found"
        if len(request.body["body"]) > 65_536:
            return 422, "body is too long (maximum is 65536 characters)"
        self.comments[int(found)].update(body=request.body["body"], updated_at="2026-11-20T02:00:01Z")
        return 200, self.comments[int(found)]

    def _get_comment(self, request: Request, found: str) -> tuple[int, Any]:
        made = self.comments.get(int(found))
        return (200, made) if made else (404, "Not Found")

    def _get_permission(self, request: Request, login: str) -> tuple[int, Any]:
        """`permission` knows the legacy roles alone; strangers may read what is public."""
        users = {one["user"]["login"]: one["user"] for one in self.comments.values()}
        if login not in users:
            return 404, f"{login} is not a user"
        example = "repository-collaborator-permission-response-if-user-has-admin-permissions"
        answer = description().example(example)
        role = self.permissions.get(login, "read")
        answer.update(role_name=role, permission={"maintain": "write", "triage": "read"}.get(role, role))
        answer["user"].update(users[login], role_name=role)
        return 200, answer

    def _delete_comment(self, request: Request, found: str) -> tuple[int, Any]:
        return (204, None) if self.comments.pop(int(found), None) else (404, "Not Found")

    def _list_issues(self, request: Request) -> tuple[int, Any]:
        state, creator = request.query.get("state", "open"), request.query.get("creator")
        wanted = set(filter(None, request.query.get("labels", "").split(",")))
        return 200, _Listed(
            [
                one
                for one in self.issues.values()
                if one["state"] == state
                and (not creator or one["user"]["login"] == creator)
                and wanted <= {label["name"] for label in one["labels"]}
            ]
        )

    def _create_issue(self, request: Request) -> tuple[int, Any]:
        body = request.body
        if len(body.get("body", "")) > 65_536:
            return 422, "body is too long (maximum is 65536 characters)"
        return 201, self.add_issue(body["title"], body.get("body", ""), body.get("labels", ()), self.me)

    def _edit_issue(self, request: Request, number: str) -> tuple[int, Any]:
        issue = self.issues.get(int(number))
        if issue is None:
            return 404, "Not Found"
        change = dict(request.body)
        if len(change.get("body", "")) > 65_536:
            return 422, "body is too long (maximum is 65536 characters)"
        if "labels" in change:
            change["labels"] = [_label(name) for name in change["labels"]]
        issue.update(change)
        return 200, issue

    def _list_pulls(self, request: Request) -> tuple[int, Any]:
        return 200, _Listed([one for one in self.pulls.values() if one["state"] == request.query.get("state", "open")])

    def _get_pull(self, request: Request, number: str) -> tuple[int, Any]:
        known = self.pulls.get(int(number))
        if known is None:
            return 404, "Not Found"
        made = description().example("pull-request")
        made.update(number=known["number"], state=known["state"], requested_teams=[])
        made["head"]["sha"], made["base"]["sha"] = known["head"]["sha"], known["base"]["sha"]
        return 200, made

    def _create_check(self, request: Request) -> tuple[int, Any]:
        check = description().example("check-run-example-of-completed-conclusion")
        check.update(id=self.new_id(), conclusion=None, completed_at=None, pull_requests=[], status="queued")
        check["output"] = {"title": None, "summary": None, "text": None, "annotations_count": 0, "annotations_url": ""}
        self.annotations[check["id"]] = []
        return self._change_check(request, check, 201)

    def _edit_check(self, request: Request, found: str) -> tuple[int, Any]:
        return self._change_check(request, self.checks[int(found)], 200)

    def _change_check(self, request: Request, check: dict[str, Any], status: int) -> tuple[int, Any]:
        body = dict(request.body)
        output = dict(body.pop("output", {}))
        notes = output.pop("annotations", [])
        if body.get("status") == "completed" and not body.get("conclusion"):
            return 422, "conclusion is required when status is completed"
        if len(notes) > 50:
            return 422, "output.annotations: at most 50 a request"
        if any(len(output.get(name, "")) > 65_535 for name in ("summary", "text")):
            return 422, "output: only 65535 characters are allowed"
        self.annotations[check["id"]] += notes
        check.update(body)
        check["output"].update(output, annotations_count=len(self.annotations[check["id"]]))
        self.checks[check["id"]] = check
        return status, check

    def _get_check(self, request: Request, found: str) -> tuple[int, Any]:
        return 200, self.checks[int(found)]

    def _list_checks(self, request: Request, ref: str) -> tuple[int, Any]:
        name = request.query.get("check_name")
        found = [one for one in self.checks.values() if one["head_sha"] == ref and name in (None, one["name"])]
        return 200, _Listed(found, "check_runs")


@dataclass(frozen=True)
class _Listed:
    """A list that is answered page by page."""

    items: list[Any]
    under: str = ""

    def page(self, request: Request, url: str) -> tuple[Any, dict[str, str]]:
        size, number = int(request.query.get("per_page", "30")), int(request.query.get("page", "1"))
        shown = self.items[(number - 1) * size : number * size]
        headers = {}
        if number * size < len(self.items):
            following = urlencode({**request.query, "page": number + 1})
            headers["Link"] = f'<{url}?{following}>; rel="next", <{url}?page=99>; rel="last"'
        return ({"total_count": len(self.items), self.under: shown} if self.under else shown), headers


_HERE = "/repos/[^/]+/[^/]+"
_ROUTES = [
    ("GET", rf"{_HERE}/issues/(\d+)/comments", "list_comments"),
    ("POST", rf"{_HERE}/issues/(\d+)/comments", "create_comment"),
    ("GET", rf"{_HERE}/issues/comments/(\d+)", "get_comment"),
    ("PATCH", rf"{_HERE}/issues/comments/(\d+)", "edit_comment"),
    ("DELETE", rf"{_HERE}/issues/comments/(\d+)", "delete_comment"),
    ("GET", rf"{_HERE}/issues", "list_issues"),
    ("POST", rf"{_HERE}/issues", "create_issue"),
    ("PATCH", rf"{_HERE}/issues/(\d+)", "edit_issue"),
    ("GET", rf"{_HERE}/pulls", "list_pulls"),
    ("GET", rf"{_HERE}/pulls/(\d+)", "get_pull"),
    ("GET", rf"{_HERE}/collaborators/([^/]+)/permission", "get_permission"),
    ("POST", rf"{_HERE}/check-runs", "create_check"),
    ("PATCH", rf"{_HERE}/check-runs/(\d+)", "edit_check"),
    ("GET", rf"{_HERE}/check-runs/(\d+)", "get_check"),
    ("GET", rf"{_HERE}/commits/([^/]+)/check-runs", "list_checks"),
]


def _label(name: str) -> dict[str, Any]:
    return {
        "id": 1,
        "node_id": "x",
        "url": "https://api.github.com/repos/o/r/labels/x",
        "name": name,
        "description": None,
        "color": "ededed",
        "default": False,
    }


def _handler(fake: FakeGitHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            place = urlsplit(self.path)
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(
                self.command, place.path, dict(parse_qsl(place.query)), headers, json.loads(raw) if raw else None
            )
            status, more, content = fake.handle(request, raw)
            if not status:
                self.close_connection = True
                return
            self.send_response_only(status)
            for name, value in {"Content-Type": "application/json", **more}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: tests read ``requests``."""

    return Handler
