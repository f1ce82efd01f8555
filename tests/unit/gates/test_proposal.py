"""What a run proposes: one group for each cause, however long its name is."""

import dataclasses
import datetime

from ci_toolkit.formats.failures import Signature
from ci_toolkit.gates.proposal import propose
from ci_toolkit.model.outcome import Outcome

TODAY = datetime.date(2026, 12, 1)


def test_causes_that_begin_alike_are_groups_of_their_own(world) -> None:
    long = "TypeError call package/tests/test_of_some_length:test_of_some_length_too_"
    causes = [f"{long}{name}" for name in ("one", "two", "one")]
    world.outcomes = {f"a.py::{number}": Outcome.FAILED for number in range(3)}
    lane = world.input()
    signatures = [Signature("call", "exception", f"{cause}: message", cause) for cause in causes]
    seen = dataclasses.replace(lane.seen, signatures=signatures)
    groups = propose(dataclasses.replace(lane, seen=seen), seen, TODAY).groups
    assert {str(group["signature"]): group["cases"] for group in groups.values()} == {
        f"{long}one": {"a.py": ["0", "2"]},
        f"{long}two": {"a.py": ["1"]},
    }
    first, second = groups
    assert second == f"{first}-2"
