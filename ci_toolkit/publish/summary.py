"""The job summary: the verdict first, a table by lane, findings by cause. It degrades as a whole and says so. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable

from ci_toolkit.model.text import clip, visible
from ci_toolkit.model.verdict import Finding, LaneVerdict, Verdict
from ci_toolkit.publish.markdown import code, fence, inline, row
from ci_toolkit.publish.words import blame, counts, duration, failure_lines, headline, more, place, reason, title, words
from ci_toolkit.reproduce.command import shell_line

CASES_SHOWN = 10
LINES_SHOWN = 12
COMMAND_BYTES = 4096
EXCERPT_BYTES = 2048


def render(verdict: Verdict, room: int) -> str:
    """The summary in at most ``room`` bytes of UTF-8; empty when not even the headline fits.

    Where not all fits, lanes take a quarter of the room or what the rest leaves (failed ones first), lanes left out
    an eighth, and runners to drain, at the top, another one. Half of what then remains holds the first findings in full
    and the rest of it the next ones in a line each. Every part says how much of it is missing.
    """
    head = f"## {inline(headline(verdict))}\n\n"
    room -= _bytes(head)
    if room < 0:
        return ""
    lanes, left_out, findings = _Lanes(verdict), _LeftOut(verdict), _Findings(verdict)
    drain = _Drain(verdict).fit(room // 8)
    head += drain
    room -= _bytes(drain)
    rest = left_out.fit(room // 8 if verdict.findings else room // 2)
    full = findings.whole(room)
    table = lanes.fit(room // 4 if full is None else max(room // 4, room - _bytes(full) - _bytes(rest)))
    return "".join([head, table, findings.fit(room - _bytes(table) - _bytes(rest)), rest])


def fill(pieces: Iterable[str], count: int, room: int, note: Callable[[int], str]) -> str:
    """As many of ``count`` pieces as fit into ``room``, and a note of how many are left.

    Only the note when no piece fits, and nothing when the note does not fit either.
    """
    reserve = _bytes(note(count))
    spent, shown = 0, []
    last = ""
    for piece in pieces:
        size = _bytes(piece)
        if spent + size + reserve > room:
            last = piece
            break
        shown.append(piece)
        spent += size
    left = count - len(shown)
    if left == 1 and last and spent + _bytes(last) <= room:  # no note is needed
        return "".join([*shown, last])
    text = "".join(shown) + (note(left) if left else "")
    return text if _bytes(text) <= room else ""


class _Lanes:
    """The table of lanes."""

    HEAD = row(["Lane", "Result", "Cases", "Time", "Device"]) + row(["---"] * 5)

    def __init__(self, verdict: Verdict) -> None:
        self._lanes = verdict.lanes

    def whole(self) -> str:
        if not self._lanes:
            return "No lane ran.\n\n"
        return self.HEAD + "".join(map(_lane, self._lanes)) + "\n"

    def fit(self, room: int) -> str:
        """The table, or the failed lanes before the passed ones as far as they fit."""
        whole = self.whole()
        if _bytes(whole) <= room or not self._lanes:
            return whole if _bytes(whole) <= room else ""
        ordered = sorted(self._lanes, key=lambda lane: lane.result == "passed")
        failed = sum(lane.result != "passed" for lane in self._lanes)

        def note(left: int) -> str:
            bad = max(failed - (len(ordered) - left), 0)
            return f"\n*{left:,} of {len(ordered):,} lanes are not shown here, {bad:,} of them not passed.*\n\n"

        rows = fill(map(_lane, ordered), len(ordered), room - _bytes(self.HEAD), note)
        if rows.startswith("|"):
            return self.HEAD + rows
        text = note(len(ordered)).lstrip("\n")
        return text if _bytes(text) <= room else ""


class _Drain:
    """The runners that a person is to take out."""

    HEAD = "**Runners to drain**\n\n"

    def __init__(self, verdict: Verdict) -> None:
        self._items = [f"- {code(clip(one.runner, 300))}: {_prose(blame(one), 700)}\n" for one in verdict.drain]

    def fit(self, room: int) -> str:
        """As many as fit."""
        if not self._items:
            return ""
        count = len(self._items)
        text = fill(self._items, count, room - _bytes(self.HEAD) - 1, lambda left: f"- {more(0, left, 'runner')}\n")
        return f"{self.HEAD}{text}\n" if text else ""


class _LeftOut:
    """The lanes that the plan left out, with the reasons."""

    HEAD = "\n**Left out**\n\n"

    def __init__(self, verdict: Verdict) -> None:
        self._items = [f"- {code(clip(lane, 300))}: {_prose(why, 300)}\n" for lane, why in verdict.left_out.items()]
        self._items.sort()

    def fit(self, room: int) -> str:
        """As many as fit."""
        if not self._items:
            return ""
        count = len(self._items)
        text = fill(self._items, count, room - _bytes(self.HEAD), lambda left: f"- {more(0, left, 'lane')}\n")
        return self.HEAD + text if text else ""


class _Findings:
    """The findings: what blocks before what does not, else in the order of the verdict."""

    def __init__(self, verdict: Verdict) -> None:
        self._all = sorted(verdict.findings, key=lambda finding: not finding.blocks)

    def whole(self, room: int) -> str | None:
        """Every finding in full; None as soon as that is more than ``room``."""
        pieces = []
        for finding in self._all:
            piece = _full(finding)
            room -= _bytes(piece)
            if room < 0:
                return None
            pieces.append(piece)
        return "".join(pieces)

    def fit(self, room: int) -> str:
        """All in full, or the first ones in full, the next in a line each, and what is not shown by kind."""
        whole = self.whole(room)
        if whole is not None:
            return whole
        pieces, spare = [], room // 2
        for finding in self._all:
            piece = _full(finding)
            spare -= _bytes(piece)
            if spare < 0:
                break
            pieces.append(piece)
        others = self._all[len(pieces) :]
        room -= sum(map(_bytes, pieces))
        rows = fill(map(brief, others), len(others), room, self._by_kind)
        rows = rows or fill((), len(others), room, self._by_count)
        return "".join(pieces) + rows

    def _by_kind(self, left: int) -> str:
        kinds = Counter(finding.kind for finding in self._all[len(self._all) - left :])
        told = ", ".join(f"{count:,} x {words(kind)}" for kind, count in kinds.items())
        return f"{self._by_count(left)[:-2]} Not shown: {told}.*\n"

    def _by_count(self, left: int) -> str:
        return f"\n*{left:,} of {len(self._all):,} findings are not shown here; verdict.json has all.*\n"


def _lane(lane: LaneVerdict) -> str:
    result = "passed" if lane.result == "passed" else f"**{_prose(lane.result, 100)}** ({lane.findings})"
    device = _prose(lane.device, 300)
    return row([code(clip(lane.lane, 300)), result, counts(lane.counts), duration(lane.seconds), device])


def _full(finding: Finding) -> str:
    lines = [f"### {_prose(title(finding), 500)}\n\n", f"{_prose(finding.message, EXCERPT_BYTES)}\n"]
    facts = {
        "why": reason(finding),
        "expected": finding.expected,
        "observed": finding.observed,
        "at": place(finding),
        "group": finding.group,
        "issue": finding.issue,
        "owner": finding.owner,
        "runner": finding.runner,
        "device": finding.device,
        "evidence": finding.evidence,
    }
    told = [f"{name}: {code(clip(value, 500))}" for name, value in facts.items() if value]
    lines.append("\n" + " · ".join(told) + "\n" if told else "")
    text = clip("\n".join(failure_lines(finding, LINES_SHOWN)), EXCERPT_BYTES)
    lines.append("\n" + fence(text) if text else "")
    lines.append(_cases(finding))
    lines.append(_reproduce(finding))
    return "".join(lines) + "\n"


def _cases(finding: Finding) -> str:
    if len(finding.cases) < 2:
        return ""
    shown = finding.cases[:CASES_SHOWN]
    items = "".join(f"- {code(clip(case, 300))}\n" for case in shown)
    left = more(len(shown), finding.count, "case")
    return f"\n{items}{'- ' + left if left else ''}\n"


def _reproduce(finding: Finding) -> str:
    if finding.reproduce is None:
        return ""
    line = visible(shell_line(finding.reproduce))
    if _bytes(line) > COMMAND_BYTES:
        command = code(f"ci-toolkit reproduce CASE --evidence {clip(finding.evidence, 300)}")
        return f"\nTo reproduce: {command} (the id is long).\n"
    return "\nTo reproduce:\n" + fence(line, "sh")


def brief(finding: Finding) -> str:
    """A finding as one item of a list."""
    where = f" ({code(clip(place(finding), 300))})" if finding.file else ""
    return f"- {_prose(title(finding), 500)}{where}: {_prose(finding.message, 300)}\n"


def _prose(text: str, limit: int) -> str:
    return inline(clip(text, limit))


def _bytes(text: str) -> int:
    return len(text.encode())
