"""A client of GitHub's REST API: paced, patient within bounds, and silent about its token.

urllib3's own retries know neither GitHub's limits (403 with a reset time) nor that a request whose answer was lost may
have been carried out, so the loop is here.
"""

from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import msgspec
import requests

from ci_toolkit.github.refusals import message_of, remedy
from ci_toolkit.github.session import NoAnswerError, Session
from ci_toolkit.github.waiting import Clock, backoff, is_limited, limited_for
from ci_toolkit.model.text import clip, one_line

T = TypeVar("T")

TRIES = 6
PATIENCE_S = 600.0
"""What a client waits and spends on failed tries in all."""
PACE_S = 1.0
"""GitHub asks for a second between requests that change something."""
TOLD_S = 5.0
"""A longer wait is told, so that nobody takes it for a hang."""


class Rest:
    """One token at one address. Answers are decoded into ``kind``; what else they hold is ignored.

    Every failure is a RemoteError of one line that says what to do. ``needs`` is the permission that it names.
    """

    def __init__(
        self, url: str, token: str, clock: Clock | None = None, tell: Callable[[str], None] = lambda line: None
    ) -> None:
        self._session = Session(url, token)
        self._base = self._session.base
        self._clock = clock or Clock()
        self._tell = tell
        self._spent = 0.0
        self._written = float("-inf")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._session.close()

    def __repr__(self) -> str:
        return f"Rest({self._base!r})"

    def get(self, path: str, kind: type[T], *, needs: str = "", **params: str | int) -> T:
        """One answer."""
        return self._session.decoded(self._send("GET", self._base + path, params=params, needs=needs), _one(kind))

    def find(self, path: str, kind: type[T], *, needs: str = "") -> T | None:
        """One answer; None for what is not there, or not for this token to see."""
        answer = self._send("GET", self._base + path, needs=needs, accepted=(404,))
        return None if answer.status_code == 404 else self._session.decoded(answer, _one(kind))

    def pages(self, path: str, kind: type[T], *, under: str = "", needs: str = "", **params: str | int) -> Iterator[T]:
        """The items of a list, page after page; ``under`` names the key that holds them, where the list is in one."""
        items: type[list[T]] = list[kind]  # type: ignore[valid-type]
        decode = _under(under, items) if under else _one(items)
        url: str | None = self._base + path
        query: Mapping[str, str | int] = {"per_page": 100, **params}
        seen: set[str] = set()
        while url:
            if url in seen or not self._session.is_own(url):
                raise self._session.error(f"GitHub's next page of {path} is at {clip(one_line(url), 200)}: refused")
            seen.add(url)
            answer = self._send("GET", url, params=query, needs=needs)
            yield from self._session.decoded(answer, decode)
            url, query = answer.links.get("next", {}).get("url"), {}

    def create(self, path: str, body: object, kind: type[T], found: Callable[[], T | None], *, needs: str = "") -> T:
        """Creates something. ``found`` looks for it, before it is created again because the answer was lost."""
        answer = self._send("POST", self._base + path, body=body, done=found, needs=needs)
        if isinstance(answer, requests.Response):
            return self._session.decoded(answer, _one(kind))
        made: T = answer
        return made

    def update(self, path: str, body: object, *, done: Callable[[], bool] = lambda: False, needs: str = "") -> None:
        """Changes something. ``done`` tells whether that has happened already, where twice is not the same as once."""
        self._send("PATCH", self._base + path, body=body, done=lambda: done() or None, needs=needs)

    def delete(self, path: str, *, needs: str = "") -> None:
        """Deletes something; that it is gone already is as good."""
        self._send("DELETE", self._base + path, needs=needs, accepted=(404,))

    def ask(self, query: str, kind: type[T]) -> T:
        """The ``data`` of a GraphQL query that changes nothing."""
        stem = self._base.removesuffix("/v3") if self._base.endswith("/api/v3") else self._base
        answer = self._send("POST", f"{stem}/graphql", body={"query": query}, reads=True)
        return self._session.decoded(answer, _under("data", kind))

    def _send(
        self,
        method: str,
        url: str,
        *,
        body: object = None,
        params: Mapping[str, str | int] | None = None,
        done: Callable[[], Any] = lambda: None,
        needs: str = "",
        accepted: tuple[int, ...] = (),
        reads: bool = False,
    ) -> Any:
        """The answer to a request, or what ``done`` found after the answer was lost."""
        reads = reads or method == "GET"
        what, why = f"{method} {urlsplit(url).path}", ""
        for tries in range(TRIES):
            if not reads:
                self._wait_for_turn()
            started = self._clock.monotonic()
            limited = False
            try:
                answer = self._session.request(method, url, body, params)
            except NoAnswerError as fault:
                why, wait = str(fault), backoff(tries, self._clock.chance())
            else:
                status = answer.status_code
                if (answer.ok and not answer.is_redirect) or status in accepted:
                    return answer
                message = message_of(answer)
                why = f"{status} {message or answer.reason}"
                limited = is_limited(status, answer.headers, message)
                if status < 500 and not limited:
                    raise self._session.error(f"GitHub refused {what}: {why}", remedy(answer, needs))
                wait = (
                    limited_for(answer.headers, tries, self._clock.now())
                    if limited
                    else backoff(tries, self._clock.chance())
                )
            finally:
                if not reads:
                    self._written = self._clock.monotonic()
            self._spent += self._clock.monotonic() - started
            if tries + 1 < TRIES or not (reads or limited):
                self._wait(wait, what, why)
            found = None if reads or limited else done()
            if found is not None:
                return found
        raise self._session.error(f"GitHub failed {TRIES} times at {what}: {why}", "run publish again later")

    def _wait_for_turn(self) -> None:
        left = self._written + PACE_S - self._clock.monotonic()
        if left > 0:
            self._clock.sleep(left)

    def _wait(self, seconds: float, what: str, why: str) -> None:
        if self._spent + seconds > PATIENCE_S:
            told = f"{what}: {why}; it can be asked again in {seconds:.0f} s, which is too long to wait"
            raise self._session.error(told, "run publish again then")
        self._spent += seconds
        if seconds >= TOLD_S:
            self._tell(self._session.clean(f"waiting {seconds:.0f} s for GitHub: {why}"))
        self._clock.sleep(seconds)


def _one(kind: type[T]) -> Callable[[bytes], T]:
    return lambda raw: msgspec.json.decode(raw, type=kind)


def _under(key: str, kind: type[T]) -> Callable[[bytes], T]:
    return lambda raw: msgspec.json.decode(msgspec.json.decode(raw, type=dict[str, msgspec.Raw])[key], type=kind)
