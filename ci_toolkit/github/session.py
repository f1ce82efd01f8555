"""Single requests to GitHub with a token that goes to no other host and into no text."""

import re
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec
import requests
from requests.auth import AuthBase

from ci_toolkit.errors import RemoteError, UsageError
from ci_toolkit.github.refusals import cause_of
from ci_toolkit.model.text import clip, one_line

T = TypeVar("T")

API = "https://api.github.com"
VERSION = "2022-11-28"
TIMEOUT_S = (10.0, 30.0)
MESSAGE_BYTES = 500

_TOKEN = re.compile(r"[\x21-\x7e]+")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class NoAnswerError(Exception):
    """The connection broke or timed out: what was asked for may have been done or not."""


class _Bearer(AuthBase):
    """The token, for its own host only: requests drops it when a redirect leads elsewhere.

    Without an ``auth`` of ours, requests would put a netrc's password in its place.
    """

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


class Session:
    """Connections to one address with one token. Proxies and CA files are taken from the environment."""

    def __init__(self, url: str, token: str) -> None:
        self.base = _address(url)
        if not _TOKEN.fullmatch(token):
            raise UsageError("the token holds characters that no token has", hint="look at GITHUB_TOKEN")
        self._token = token
        self._session = requests.Session()
        self._session.auth = _Bearer(token)
        self._session.headers.update(
            {
                "Accept": "application/vnd.github+json",
                "User-Agent": f"ci-toolkit/{metadata.version('ci-toolkit')}",
                "X-GitHub-Api-Version": VERSION,
            }
        )

    def close(self) -> None:
        """Closes the connections."""
        self._session.close()

    def request(
        self, method: str, url: str, body: object = None, params: Mapping[str, str | int] | None = None
    ) -> requests.Response:
        """GitHub's answer, whatever it says. Raises NoAnswerError where there is none.

        Only a GET follows redirects: a POST would become a GET on its way.
        """
        data = None if body is None else msgspec.json.encode(body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        follow = method == "GET"
        try:
            return self._session.request(
                method, url, params=params, data=data, headers=headers, timeout=TIMEOUT_S, allow_redirects=follow
            )
        except requests.exceptions.SSLError as error:
            hint = "REQUESTS_CA_BUNDLE names a CA file"
            raise self.error(f"{self.base} can not be trusted: {cause_of(error)}", hint) from None
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
            raise NoAnswerError(f"no whole answer ({cause_of(error)})") from None
        except requests.RequestException as error:
            raise self.error(f"{self.base} can not be asked: {cause_of(error)}") from None

    def is_own(self, url: str) -> bool:
        """Whether the token may go to ``url``."""
        ours, other = urlsplit(self.base), urlsplit(url)
        return (ours.scheme, ours.netloc) == (other.scheme, other.netloc)

    def decoded(self, answer: requests.Response, decode: Callable[[bytes], T]) -> T:
        """The answer's content; one that is not GitHub's raises RemoteError."""
        try:
            return decode(answer.content)
        except (msgspec.DecodeError, UnicodeDecodeError, KeyError, RecursionError) as error:
            place = urlsplit(answer.url)
            told = f"{place.hostname}{place.path} answered with something else than GitHub does: {error}"
            raise self.error(told, "is GITHUB_API_URL right?") from None

    def clean(self, text: str) -> str:
        """``text`` on one line, in bounds, without the token."""
        return clip(one_line(text.replace(self._token, "***")), MESSAGE_BYTES)

    def error(self, message: str, hint: str = "") -> RemoteError:
        """An error whose text does not hold the token, whoever wrote it."""
        return RemoteError(self.clean(message), hint=self.clean(hint))


def _address(url: str) -> str:
    """The API's address, where a token may be sent: encrypted, or on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname if parts.port != 0 else None
    except ValueError:
        host = None
    if not host or parts.scheme not in ("https", "http") or "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError("GITHUB_API_URL is no plain https address", hint=f"{API} is GitHub's")
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise UsageError("GITHUB_API_URL is not encrypted: the token could be read on the way", hint="use https")
    return url.rstrip("/")
