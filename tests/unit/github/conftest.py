"""GitHub's API in this process, and a clock that waits for nothing."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from github_api.fake import FakeGitHub

from ci_toolkit.github.rest import Rest
from ci_toolkit.github.waiting import Clock

TOKEN = "ghs_thisIsASecretToken0123456789"


@dataclass
class Waits:
    """The waits that a client made; time goes on only by them."""

    times: list[float] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def clock(self) -> Clock:
        return Clock(
            now=lambda: 1_790_000_000.0 + sum(self.times),
            monotonic=lambda: sum(self.times),
            sleep=self.times.append,
            chance=lambda: 1.0,
        )


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        yield fake
    assert fake.violations == []


@pytest.fixture
def rest(github: FakeGitHub, waits: Waits) -> Iterator[Rest]:
    with Rest(github.url, TOKEN, waits.clock(), waits.told.append) as client:
        yield client
    assert all(request.headers["authorization"] == f"Bearer {TOKEN}" for request in github.requests)
    assert not any(TOKEN in f"{request.path}{request.query}{request.body}" for request in github.requests)
