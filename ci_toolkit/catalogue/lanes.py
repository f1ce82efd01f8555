"""The resolved conf of a lane: what the other rooms see of the catalogue."""

from dataclasses import dataclass

from ci_toolkit.model.plan import Lane
from ci_toolkit.model.request import Limits


@dataclass(frozen=True)
class Platform:
    """A platform after resolution; ``python`` is empty for the host's own interpreter."""

    name: str
    device: str
    arch: str
    count: int
    python: str
    flags: tuple[str, ...]
    runs_on: tuple[str, ...]


@dataclass(frozen=True)
class LaneConf:
    """All that a lane's run needs from conf, with overrides applied.

    ``base`` is the repository's root (the folder that holds ``conf/``) as an absolute path. ``root_path`` is relative
    to it and empty when ``root_distribution`` names a distribution. ``env`` are settings of platform, suite and
    variant, in that order; ``env_allow`` names (globs) that pass from the host's environment. ``ratchet`` is the folder
    of the suite's ratchet, relative to ``base``, and empty when all must pass.
    """

    lane: Lane
    platform: Platform
    base: str
    root_path: str
    root_distribution: str
    paths: tuple[str, ...]
    exclude: tuple[str, ...]
    sample: tuple[str, ...]
    marker: str
    keyword: str
    args: tuple[str, ...]
    env: dict[str, str]
    env_allow: tuple[str, ...]
    requires: dict[str, str]
    subject: tuple[str, ...]
    limits: Limits
    start: str
    ratchet: str
    owner: str
    digest: str
