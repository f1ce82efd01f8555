"""What each platform of conf needs of a runner. Pure."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from ci_toolkit.catalogue.lanes import LaneConf, Platform
from ci_toolkit.errors import NothingSelectedError
from ci_toolkit.model.ids import matches
from ci_toolkit.model.plan import ExpectedDevice


@dataclass(frozen=True)
class Asked:
    """A platform with what its lanes need. ``named``: it was asked for, so it must be here.

    ``env`` and ``env_allow`` are those of its first lane. ``kinds`` are its suites' kinds, ``subject`` the
    distributions that they test.
    """

    platform: Platform
    device: ExpectedDevice
    base: str
    env: dict[str, str]
    env_allow: tuple[str, ...]
    kinds: frozenset[str]
    subject: tuple[str, ...]
    named: bool


def asked(lanes: Sequence[LaneConf], only: Sequence[str]) -> tuple[Asked, ...]:
    """The platforms that have lanes and that the globs name, by name. Raises NothingSelectedError for an idle glob."""
    by_name: dict[str, list[LaneConf]] = {}
    for conf in sorted(lanes, key=lambda conf: conf.lane.id):
        by_name.setdefault(conf.platform.name, []).append(conf)
    for glob in only:
        if not any(matches(glob, name) for name in by_name):
            close = difflib.get_close_matches(glob, by_name, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(sorted(by_name)) or 'none'}"
            raise NothingSelectedError(f"no platform with a lane fits {glob!r}", hint=hint)
    return tuple(
        _asked(confs, bool(only))
        for name, confs in sorted(by_name.items())
        if not only or any(matches(glob, name) for glob in only)
    )


def _asked(confs: Sequence[LaneConf], named: bool) -> Asked:
    first = confs[0]
    return Asked(
        platform=first.platform,
        device=first.lane.device,
        base=first.base,
        env=first.env,
        env_allow=first.env_allow,
        kinds=frozenset(conf.lane.kind for conf in confs),
        subject=tuple(sorted({name for conf in confs for name in conf.subject})),
        named=named,
    )
