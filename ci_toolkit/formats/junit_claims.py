"""What a JUnit file claims of itself, compared with what its cases show."""

from collections import Counter
from collections.abc import Iterable, Mapping

from ci_toolkit.formats.junit_words import AS_ERROR, AS_SKIPPED, count_of
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.text import clip, one_line

WARNINGS = 50
"""A file's warnings that are told; the rest is counted."""

_COUNTERS = ("tests", "failures", "errors", "skipped")


class Suite:
    """A suite that is being read: its claims, the counts of its own cases, and those of the suites within it."""

    def __init__(self, name: str, attributes: Mapping[str, str]) -> None:
        self.name = name
        self.claims = {key: attributes[key] for key in _COUNTERS if attributes.get(key)}
        self.own: Counter[str] = Counter()
        self.below: Counter[str] = Counter()

    def count(self, outcome: Outcome, shown: Iterable[Outcome], reruns: int) -> None:
        """Counts a case: by all that it shows, since a failed case with an error at its end counts as both."""
        own = self.own
        own["tests"] += 1
        if outcome is Outcome.PASSED and not reruns:
            return
        own["reruns"] += reruns
        own["failures"] += Outcome.FAILED in shown
        own["errors"] += not AS_ERROR.isdisjoint(shown)
        own["skipped"] += outcome in AS_SKIPPED

    def adopt(self, inner: "Suite") -> None:
        """Counts a suite within this one."""
        self.below += inner.own + inner.below


class Claims:
    """Warnings of a file, and what makes it contradict itself."""

    def __init__(self) -> None:
        self.contradiction = ""
        self._told: list[str] = []
        self._more = 0

    def warn(self, text: str) -> None:
        """Adds a warning, as one short line."""
        if len(self._told) < WARNINGS:
            self._told.append(one_line(clip(text, 400)))
        else:
            self._more += 1

    def warnings(self) -> tuple[str, ...]:
        """All warnings; the last one says how many more there are."""
        more = (f"{self._more} more warnings",) if self._more else ()
        return (*self._told, *more)

    def compare(self, suite: Suite) -> None:
        """Warns of each counter that disagrees; failures that no case shows make the file contradict itself."""
        whole = suite.own + suite.below
        name = suite.name or "the whole file"
        bad = 0
        for counter, claim in suite.claims.items():
            number = count_of(claim)
            if number is None:
                self.warn(f"{clip(name, 200)}: {counter}={claim[:100]!r} is no count")
                continue
            if number not in (suite.own[counter], whole[counter]):
                self.warn(f"{clip(name, 200)}: claims {counter}={claim}, its cases show {whole[counter]}")
            if counter in ("failures", "errors"):
                bad += number
        if bad > whole["reruns"] and not whole["failures"] + whole["errors"]:
            self.contradiction = f"{one_line(clip(name, 200))} claims {bad} failures or errors, its cases show none"
