"""GitHub's description of its REST API: what may be asked, how it answers, and an example of each thing."""

import copy
import functools
import json
import lzma
from pathlib import Path
from typing import Any

from openapi_core import OpenAPI
from openapi_core.testing import MockRequest, MockResponse

FILE = Path(__file__).with_name("description.json.xz")
SERVER = "https://api.github.com"


class Description:
    """Validates; ``fault`` texts are empty for what is allowed."""

    def __init__(self) -> None:
        plain = json.loads(lzma.decompress(FILE.read_bytes()))
        self._examples = plain["components"]["examples"]
        _allow_null(plain)
        self._api = OpenAPI.from_dict(plain)

    def example(self, name: str) -> Any:
        """A thing as GitHub shows it."""
        return copy.deepcopy(self._examples[name]["value"])

    def request_fault(self, method: str, path: str, query: dict[str, str], body: bytes) -> str:
        """Why a request is none that GitHub knows."""
        request = MockRequest(
            SERVER, method.lower(), path, args=query, data=body or None, content_type="application/json"
        )
        return _fault(lambda: self._api.validate_request(request))

    def answer_fault(self, method: str, path: str, query: dict[str, str], status: int, content: bytes) -> str:
        """Why an answer is none that GitHub gives."""
        request = MockRequest(SERVER, method.lower(), path, args=query, content_type="application/json")
        response = MockResponse(content, status_code=status, content_type="application/json")
        return _fault(lambda: self._api.validate_response(request, response))


@functools.cache
def description() -> Description:
    """The description, read once a process."""
    return Description()


def _fault(validate: Any) -> str:
    try:
        validate()
    except Exception as error:  # noqa: BLE001 - openapi-core has no base class of its own
        schema = getattr(error.__cause__, "schema_errors", [])
        told = [f"{'.'.join(map(str, one.absolute_path))}: {one.message[:200]}" for one in schema]
        return "; ".join(told) or f"{type(error).__name__}: {str(error)[:300]}"
    return ""


def _allow_null(node: Any) -> None:
    """GitHub writes nullable enumerations without null; validators then refuse null."""
    if isinstance(node, dict):
        values = node.get("enum")
        if node.get("nullable") and isinstance(values, list) and None not in values:
            values.append(None)
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _allow_null(child)
