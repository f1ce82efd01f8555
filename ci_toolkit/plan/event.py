"""What an event asks for. Pure."""

from collections.abc import Collection
from dataclasses import dataclass

from ci_toolkit.catalogue.selection import Rules
from ci_toolkit.errors import UsageError


@dataclass(frozen=True)
class Changes:
    """The files that an event changes, relative to the repository; None where that is not known, and ``why`` not."""

    files: tuple[str, ...] | None
    base: str = ""
    why: str = ""


@dataclass(frozen=True)
class Event:
    """An event as it arrived: its name, the labels of its pull request, what it changes, and a tier it names itself.

    ``present`` are the files of the repository, relative to it.
    """

    name: str
    labels: tuple[str, ...] = ()
    changes: Changes = Changes(None)
    tier: str = ""
    present: Collection[str] = ()


@dataclass(frozen=True)
class Asked:
    """An event after the rules: what to run, and how that came about. ``besides`` are lanes that labels add."""

    tier: str
    lanes: tuple[str, ...]
    full: bool
    by_changes: bool
    besides: tuple[str, ...]
    empty: str
    notes: tuple[str, ...]


def asked(rules: Rules, event: Event) -> Asked:
    """What the rules make of an event. A tier that the event names stands above a label's, and that above the event's.

    Raises UsageError for an event or a tier that the rules do not have.
    """
    conf = rules.events.get(event.name)
    if conf is None:
        raise UsageError(f"there is no rule for the event {event.name!r}", hint=f"known: {', '.join(rules.events)}")
    tier, why = conf.tier, f"of the event {event.name}"
    besides: list[str] = []
    for name in sorted(set(event.labels) & rules.labels.keys()):
        label = rules.labels[name]
        besides += label.lanes
        if label.tier:
            tier, why = label.tier, f"of the label {name!r}"
    if event.tier:
        tier, why = event.tier, "that was asked for"
    if tier not in rules.tiers:
        raise UsageError(f"there is no tier {tier!r}", hint=f"known: {', '.join(rules.tiers)}")
    level = rules.tiers[tier]
    return Asked(
        tier=tier,
        lanes=level.lanes,
        full=level.full,
        by_changes=conf.changes,
        besides=tuple(besides),
        empty=conf.empty,
        notes=(f"tier {tier}, {why}", *(f"besides, by labels: {glob}" for glob in besides)),
    )
