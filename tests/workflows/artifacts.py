"""GitHub's artifact service as far as a run needs it: create, upload, finalize, list, sign, download.

Speaks the protocol of ``@actions/artifact`` (Twirp over HTTP, blobs by signed address), so the stand-ins of this folder
and the real actions can both use it. Like GitHub, it refuses a name twice in one run and a digest that does not match.
"""

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

SERVICE = "/twirp/github.actions.results.api.v1.ArtifactService/"


@dataclass
class Artifact:
    id: int
    run: str
    name: str
    data: bytes = b""
    digest: str = ""

    @property
    def described(self) -> dict[str, str]:
        return {
            "workflow_run_backend_id": self.run,
            "workflow_job_run_backend_id": "1",
            "database_id": str(self.id),
            "name": self.name,
            "size": str(len(self.data)),
            "created_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "digest": self.digest,
        }


Fault = Callable[[Artifact], None]
"""What happens to an artifact when its upload ends: it changes the name or the bytes that the service keeps."""


class ArtifactServer(ThreadingHTTPServer):
    """Use as a context; ``env`` is what a job must be given. ``faults`` go by the name that the upload asked for."""

    daemon_threads = True

    def __init__(self, faults: Mapping[str, Fault]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults = faults
        self.artifacts: list[Artifact] = []
        self.lock = threading.Lock()
        # The toolkit of GitHub masks the value of `sig` in logs: a short one would mask half of them.
        self.signature = secrets.token_hex(16)

    def __enter__(self) -> "ArtifactServer":
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.shutdown()
        self.server_close()

    def env(self, run: str) -> dict[str, str]:
        url = f"http://127.0.0.1:{self.server_port}/"
        claims = {"scp": f"Actions.Results:{run}:1", "exp": 4102444800}
        parts = [json.dumps(part).encode() for part in ({"alg": "none", "typ": "JWT"}, claims)]
        token = ".".join([*(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts), "unsigned"])
        return {"ACTIONS_RESULTS_URL": url, "ACTIONS_RUNTIME_URL": url, "ACTIONS_RUNTIME_TOKEN": token}

    def finished(self, run: str, name: str = "") -> list[Artifact]:
        return [a for a in self.artifacts if a.run == run and a.digest and name in ("", a.name)]


class Handler(BaseHTTPRequestHandler):
    server: ArtifactServer
    protocol_version = "HTTP/1.1"
    not_found: ClassVar[dict[str, str]] = {"code": "not_found", "msg": "artifact not found"}

    def log_message(self, *args: object) -> None:
        pass

    def answer(self, status: int, document: Any = None, data: bytes = b"") -> None:
        data = data if document is None else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/zip" if document is None else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def blob(self) -> Artifact | None:
        address = urlsplit(self.path)
        if parse_qs(address.query).get("sig") != [self.server.signature]:
            return None
        return next((a for a in self.server.artifacts if address.path == f"/blob/{a.id}"), None)

    def do_POST(self) -> None:
        asked = json.loads(self.body())
        method = getattr(self, "twirp_" + self.path.removeprefix(SERVICE), None)
        if method is None:
            return self.answer(404, {"code": "bad_route", "msg": self.path})
        with self.server.lock:
            return self.answer(*method(asked, asked["workflow_run_backend_id"], asked.get("name", "")))

    def twirp_CreateArtifact(self, asked: dict[str, Any], run: str, name: str) -> tuple[int, Any]:  # noqa: N802
        if self.server.finished(run, name):
            return 409, {
                "code": "already_exists",
                "msg": "an artifact with this name already exists on the workflow run",
            }
        made = Artifact(len(self.server.artifacts) + 1001, run, name)
        self.server.artifacts.append(made)
        return 200, {"ok": True, "signed_upload_url": self.signed(made)}

    def twirp_FinalizeArtifact(self, asked: dict[str, Any], run: str, name: str) -> tuple[int, Any]:  # noqa: N802
        made = [a for a in self.server.artifacts if a.run == run and a.name == name][-1]
        digest = "sha256:" + hashlib.sha256(made.data).hexdigest()
        if asked.get("hash") not in (None, digest):
            return 400, {"code": "invalid_argument", "msg": "digest mismatch"}
        if name in self.server.faults:
            self.server.faults[name](made)
        made.digest = "sha256:" + hashlib.sha256(made.data).hexdigest()
        return 200, {"ok": True, "artifact_id": str(made.id)}

    def twirp_ListArtifacts(self, asked: dict[str, Any], run: str, name: str) -> tuple[int, Any]:  # noqa: N802
        return 200, {"artifacts": [a.described for a in self.server.finished(run, asked.get("name_filter") or "")]}

    def twirp_GetSignedArtifactURL(self, asked: dict[str, Any], run: str, name: str) -> tuple[int, Any]:  # noqa: N802
        found = self.server.finished(run, name)
        return (200, {"name": name, "signed_url": self.signed(found[-1])}) if found else (404, self.not_found)

    def signed(self, made: Artifact) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/blob/{made.id}?sig={self.server.signature}"

    def do_PUT(self) -> None:
        data, made = self.body(), self.blob()
        if made is None:
            return self.answer(404, self.not_found)
        made.data = data
        return self.answer(201)

    def do_GET(self) -> None:
        made = self.blob()
        return self.answer(404, self.not_found) if made is None else self.answer(200, data=made.data)
