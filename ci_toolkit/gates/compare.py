"""Compares each case of a lane with what is expected of it. Pure."""

from collections import Counter

from ci_toolkit.formats.failures import Signature
from ci_toolkit.gates.control import EXCUSED, NONE, Control
from ci_toolkit.gates.expectations import Expected, applies
from ci_toolkit.gates.lane import Findings, LaneInput, Seen, Words
from ci_toolkit.gates.ratchet_files import outcomes_of
from ci_toolkit.gates.tally import Tally
from ci_toolkit.model.case import Case
from ci_toolkit.model.ids import matches, split_case
from ci_toolkit.model.outcome import Outcome, is_flaky
from ci_toolkit.model.ratchet import UNREVIEWED, Group, Match, Membership
from ci_toolkit.model.verdict import FindingKind

BLAMED = frozenset(
    {
        FindingKind.REGRESSION,
        FindingKind.UNEXPECTED_PASS,
        FindingKind.CHANGED_FAILURE,
        FindingKind.CHANGED_OUTCOME,
        FindingKind.UNREVIEWED_SKIP,
    }
)
"""What a pull request inherits when its base shows the same."""


class Comparison:
    """Judges the cases of one lane, one after the other."""

    def __init__(
        self, lane: LaneInput, seen: Seen, expected: Expected, findings: Findings, control: Control = NONE
    ) -> None:
        self._control = control
        self._lane = lane
        self._seen = seen
        self._expected = expected
        self._findings = findings
        ratchet = lane.ratchet.ratchet if lane.ratchet else None
        self._locked = ratchet is not None and ratchet.membership is Membership.LOCKED
        skips = enumerate(ratchet.skips) if ratchet else ()
        self._skips = {number: rule for number, rule in skips if applies(rule.when, seen.report.facts)}
        self._skipped: Counter[int] = Counter()
        self._rules: dict[str, int | None] = {}

    def case(self, case: Case) -> None:
        """Judges one case."""
        expected = self._expected
        if is_flaky(case.tries):
            self._findings.add_case(FindingKind.FLAKY, "", case, Words("ended in different ways within this run"))
        if case.outcome is Outcome.MISSING:
            self._add(FindingKind.MISSING, "outcome", case, "was collected and nothing explains why it did not report")
        elif case.id in expected.withheld:
            if case.outcome is not Outcome.NOT_RUN:
                self._changed(case, "withheld from this platform, yet it ran", expected="not_run")
        elif case.outcome is Outcome.NOT_RUN:
            self._add(FindingKind.NOT_RUN, case.reason, case, case.reason or "did not run, and nothing says why")
        elif case.id in expected.absent:
            self._add(FindingKind.STALE_ABSENT, "", case, "is listed as absent on this platform, yet it is there")
        elif case.id in expected.groups:
            self._against_group(case, *expected.groups[case.id])
        elif self._locked and expected.members is not None and case.id not in expected.members:
            file = split_case(case.id)[0]
            self._add(FindingKind.UNLISTED_CASE, file, case, f"is not among the members of {file}", expected="no case")
        else:
            self._must_pass(case)

    def finish(self) -> None:
        """Judges what only all cases show: lost members."""
        if self._expected.members is not None:
            self._lost_members(self._expected.members)

    def tally(self) -> Tally:
        """What counts for the whole lane, with its other shards."""
        return Tally(Counter(case.outcome for case in self._seen.cases), self._skipped)

    def _lost_members(self, members: frozenset[str]) -> None:
        lost: dict[str, list[str]] = {}
        for case in members - {case.id for case in self._seen.cases} - set(self._expected.absent):
            lost.setdefault(split_case(case)[0], []).append(case)
        faulty = {split_case(error.unit)[0] for error in self._seen.report.errors if error.unit}
        for file, cases in sorted(lost.items()):
            why = " (its unit ended in an execution error)" if file in faulty else ""
            words = "member was" if len(cases) == 1 else "members were"
            self._findings.add(
                FindingKind.MISSING, file, f"{len(cases)} {words} not collected from {file}{why}", cases=cases
            )

    def _against_group(self, case: Case, name: str, group: Group) -> None:
        outcomes = outcomes_of(group)
        wanted = " or ".join(sorted(outcomes))
        words = {"group": name, "issue": str(group.issue or "")}
        if case.outcome in outcomes:
            if case.outcome is not Outcome.PASSED and not self._same(case, group):
                signature = self._seen.signature(case)
                self._add(
                    FindingKind.CHANGED_FAILURE,
                    f"{name} {signature.signature_class if signature else ''}",
                    case,
                    f"is {case.outcome}, as {name} says, but in another way",
                    expected=group.signature,
                    observed=_shown(signature, group.match),
                    **words,
                )
        elif case.outcome in (Outcome.PASSED, Outcome.XPASSED):
            self._add(
                FindingKind.UNEXPECTED_PASS,
                name,
                case,
                f"passes, and {name} says {wanted}: promote it, so that a later regression is seen",
                expected=wanted,
                observed=case.outcome.value,
                **words,
            )
        else:
            self._changed(case, f"{case.outcome}, and {name} says {wanted}", expected=wanted, cause=name, **words)

    def _same(self, case: Case, group: Group) -> bool:
        if group.match is Match.ANY or not group.signature:
            return True
        for row in case.failures:
            signature = self._seen.signatures[row]
            if group.match is Match.EXACT and signature.signature == group.signature:
                return True
            if group.match is Match.CLASS and signature.signature_class == group.signature:
                return True
        return False

    def _must_pass(self, case: Case) -> None:
        if case.outcome is Outcome.PASSED:
            return
        if case.outcome is Outcome.SKIPPED:
            self._skip(case)
        elif case.outcome is Outcome.XPASSED:
            self._add(
                FindingKind.UNEXPECTED_PASS, "mark", case, "passes although it is marked xfail: remove the mark",
                expected="passed or a reviewed group", observed="xpassed",
            )  # fmt: skip
        elif case.outcome is Outcome.XFAILED:
            reason = case.reason or "no reason"
            self._changed(case, f"xfailed ({reason}), and no group of the ratchet names it", cause=reason)
        else:
            signature = self._seen.signature(case)
            cause = signature.signature_class if signature else case.outcome.value
            self._add(
                FindingKind.REGRESSION,
                f"{case.outcome} {cause}",
                case,
                f"must pass, and {_VERBS.get(case.outcome, case.outcome.value)}{_looked_into(case)}",
                expected="passed",
                observed=case.outcome.value,
            )

    def _skip(self, case: Case) -> None:
        if self._lane.allow_control_skips and (not self._lane.control_lane or self._control.shows(self._seen, case)):
            return
        if case.reason not in self._rules:
            found = (index for index, rule in self._skips.items() if matches(rule.reason, case.reason))
            self._rules[case.reason] = next(found, None)
        index = self._rules[case.reason]
        rule = None if index is None else self._skips[index]
        if index is None or rule is None or rule.why.strip() in ("", UNREVIEWED):
            said = "no rule accepts this" if rule is None else f"the rule {rule.reason!r} has no reviewed 'why'"
            self._add(
                FindingKind.UNREVIEWED_SKIP, case.reason, case, f"skipped ({case.reason or 'no reason'}): {said}",
                expected="passed", observed="skipped",
            )  # fmt: skip
        else:
            self._skipped[index] += 1

    def _changed(self, case: Case, message: str, cause: str = "", **words: str) -> None:
        words.setdefault("expected", "passed")
        cause = f"{case.outcome} {cause}"
        self._add(FindingKind.CHANGED_OUTCOME, cause, case, message, observed=case.outcome.value, **words)

    def _add(self, kind: FindingKind, cause: str, case: Case, message: str, **words: str) -> None:
        excusable = kind in EXCUSED and case.id not in self._expected.groups
        if excusable and self._control.shows(self._seen, case):
            kind, cause, message = FindingKind.SHOWN_BY_CONTROL, f"{kind} {cause}", f"{message} (so does the control)"
        elif kind in BLAMED and case.id in self._lane.base:
            signature = self._seen.signature(case)
            now = (case.outcome, signature.signature_class if signature else "")
            if self._lane.base[case.id] == now:
                kind, cause, message = FindingKind.INHERITED, f"{kind} {cause}", f"{message} (its base shows the same)"
        self._findings.add_case(kind, cause, case, Words(message, **words))


_VERBS = {
    Outcome.FAILED: "failed",
    Outcome.ERROR: "ended in an error of its set-up or teardown",
    Outcome.CRASHED: "crashed its worker",
    Outcome.TIMEOUT: "ran longer than its limit",
}


def _looked_into(case: Case) -> str:
    """What runs of a culprit by itself, and after those before it, have shown."""
    if case.alone is None:
        return ""
    after = f", after those that had run before it: {case.after}" if case.after else ""
    return f" (alone in a fresh one: {case.alone}{after})"


def _shown(signature: Signature | None, match: Match) -> str:
    if signature is None:
        return "no failure was recorded"
    return signature.signature if match is Match.EXACT else signature.signature_class
