"""``ratchets/SUITE/PLATFORM.yml``: the reviewed expectations of a suite on a platform. People write these."""

from datetime import date
from enum import StrEnum

from ci_toolkit.model.documents import Authored
from ci_toolkit.model.outcome import Outcome

RATCHET_SCHEMA = "ratchet/1"
UNREVIEWED = "UNREVIEWED"
"""The reason that a proposal writes, and that a gate refuses."""


class Match(StrEnum):
    """How close an observed failure must be: the whole signature, its class, or the outcome alone."""

    EXACT = "exact"
    CLASS = "class"
    ANY = "any"


class Membership(StrEnum):
    """``locked``: any change of the set of cases is reviewed; ``grows``: a new case that passes is accepted."""

    LOCKED = "locked"
    GROWS = "grows"


class Pattern(Authored, frozen=True, kw_only=True):
    """Case ids by glob (only ``*`` is special, ``count`` is exact), or one id that holds a ``*`` of its own."""

    glob: str = ""
    exact: str = ""
    count: int | None = None


Entries = dict[str, tuple[str | Pattern, ...]]
"""Test file -> case ids within it, without the file."""


class Seen(Authored, frozen=True, kw_only=True):
    """What is known of an intermittent case: in how many runs it was seen, how often it failed, the accepted rate."""

    runs: int
    failed: int
    max_rate: float


class Group(Authored, frozen=True, kw_only=True):
    """Deviations that share a reason. Several outcomes mean intermittent, and need ``seen``."""

    outcome: Outcome | tuple[Outcome, ...]
    cases: Entries
    reason: str = ""
    match: Match = Match.CLASS
    signature: str = ""
    issue: int | str | None = None
    owner: str = ""
    expires: date | None = None
    when: dict[str, str | tuple[str, ...]] = {}
    seen: Seen | None = None


class Exclusion(Authored, frozen=True, kw_only=True):
    """Members that a platform does not have (``absent``) or never executes (``withheld``)."""

    cases: Entries
    reason: str = ""
    issue: int | str | None = None
    owner: str = ""
    when: dict[str, str | tuple[str, ...]] = {}


class SkipRule(Authored, frozen=True, kw_only=True):
    """Skips that are accepted by their reason (a glob, only ``*`` is special), at most ``ceiling`` of them."""

    reason: str
    ceiling: int
    why: str
    when: dict[str, str | tuple[str, ...]] = {}


class Ratchet(Authored, frozen=True, kw_only=True):
    """The expectations of one suite on one platform; a member that nothing here names must pass.

    ``contract`` holds the strict facts that the expectations are valid for: a value matches itself and what extends it
    at a dot (``3.11`` matches ``3.11.7``). ``floor`` is the least number of passed cases of a whole suite.
    """

    schema: str = RATCHET_SCHEMA
    signature_scheme: int = 1
    membership: Membership = Membership.LOCKED
    contract: dict[str, str] = {}
    floor: int = 0
    skips: tuple[SkipRule, ...] = ()
    groups: dict[str, Group] = {}
    absent: dict[str, Exclusion] = {}
    withheld: dict[str, Exclusion] = {}
    evidence: str = ""
    accepted: str = ""
