"""The command that a person gives in a comment on a pull request: ``/ci run SHA``. Pure.

The body is text of anybody. It is read by one expression, and nothing of it that does not fit is passed on.
"""

import re
from dataclasses import dataclass

COMMAND = "/ci run"
GRAMMAR = f"{COMMAND} SHA [--only GLOB]... [--tier NAME]"
LINE = 200
"""Characters that the command may have."""

_COMMAND = re.compile(
    r"/ci run (?P<commit>[0-9a-f]{40})"
    # Neither starts with a dash: what a comment names is never taken for an option.
    r"(?P<more>(?: --only [a-z0-9_.*?\[\]][a-z0-9_.*?\[\]-]*| --tier [a-z0-9_][a-z0-9_.-]*)*) *"
)


@dataclass(frozen=True)
class Command:
    """What shall be run: a whole commit SHA, lanes by id (those of the tier when empty), and a tier (the event's)."""

    commit: str
    only: tuple[str, ...] = ()
    tier: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether all that the event selects was asked for."""
        return not self.only and not self.tier


@dataclass(frozen=True)
class NoCommand:
    """A comment that is meant for us and asks for nothing that can be run; ``why`` holds no text of it."""

    why: str


def read_command(body: str) -> Command | NoCommand | None:
    """What the first line of a comment's body asks for; None where it is meant for others.

    GitHub's own text field ends lines with a carriage return and a line feed.
    """
    line = body.partition("\n")[0].removesuffix("\r")
    rest = line.removeprefix(COMMAND)
    if rest == line or rest[:1].isalnum() or rest[:1] in ("-", "_"):
        return None
    if len(line) > LINE:
        return NoCommand(f"the command is longer than {LINE} characters")
    found = _COMMAND.fullmatch(line)
    if not found:
        return NoCommand(_fault(rest))
    words = found["more"].split()
    given = list(zip(words[::2], words[1::2], strict=True))
    tiers = [value for name, value in given if name == "--tier"]
    if len(tiers) > 1:
        return NoCommand("it names more than one tier")
    return Command(found["commit"], tuple(value for name, value in given if name == "--only"), "".join(tiers))


def _fault(rest: str) -> str:
    first = rest.strip(" ").partition(" ")[0]
    if not first or first.startswith("--"):
        return "the command names no commit"
    if not re.fullmatch(r"[0-9a-f]{40}", first):
        return "the command names no whole commit SHA (40 characters of 0-9 and a-f)"
    return f"the command is not `{GRAMMAR}`, with one space between its words"
