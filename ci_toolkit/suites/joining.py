"""Joins what the workers of one unit told into the unit's result. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import msgspec

from ci_toolkit.model.case import Case, Failure
from ci_toolkit.model.outcome import Outcome
from ci_toolkit.model.report import PARTS, ErrorKind, ExecutionError, Purpose
from ci_toolkit.suites.kind import UnitResult
from ci_toolkit.suites.steps import Taken

Record = TypeVar("Record", Case, ExecutionError)
UNRUN = frozenset({Outcome.NOT_RUN, Outcome.MISSING})


def joined(unit: str, taken: Sequence[Taken], *, halted: str, flaky_passes: bool) -> UnitResult:
    """The unit's result. ``halted`` says why no further worker was started, where that was so.

    A case counts as its first worker that ran it told; later runs only add to its tries, unless ``flaky_passes`` and it
    passed in one of them whose worker is believed. The error of a death goes once its culprit is named and all the rest
    has run.
    """
    parts = [one for one in taken if one.step.purpose in PARTS]
    cases: dict[str, Case] = {}
    failures: list[Failure] = []
    errors: list[ExecutionError] = []
    deaths: list[tuple[UnitResult, ExecutionError]] = []
    for part in parts:
        result = part.result
        offset = len(failures)
        failures += result.failures
        errors += _moved(result.errors, offset)
        for case in result.cases:
            if case.id not in cases or (cases[case.id].outcome in UNRUN and case.outcome not in UNRUN):
                cases[case.id] = _shifted(case, offset)
        if result.death is not None:
            deaths.append((result, _shifted(result.death, offset)))
        errors += _lost(unit, part)
    for result, death in deaths:
        unrun = [name for name in result.rest if cases[name].outcome in UNRUN]
        if unrun or not result.culprit:
            errors.append(death)
        if halted:
            for name in unrun:
                cases[name] = msgspec.structs.replace(cases[name], outcome=Outcome.NOT_RUN, reason=halted)
    _add_tries(cases, taken, flaky_passes)
    first = parts[0].result
    return replace(
        first,
        cases=tuple(cases.values()),
        failures=tuple(failures),
        errors=tuple(errors),
        death=None,
        providers=tuple(provider for part in parts for provider in part.result.providers),
        environment=next((part.result.environment for part in parts if part.result.environment), None),
        runner_version=next((part.result.runner_version for part in parts if part.result.runner_version), ""),
    )


def _moved(errors: Iterable[ExecutionError], offset: int) -> tuple[ExecutionError, ...]:
    return tuple(_shifted(error, offset) for error in errors)


def _shifted(record: Record, offset: int) -> Record:
    if not record.failures or not offset:
        return record
    return msgspec.structs.replace(record, failures=tuple(row + offset for row in record.failures))


def _lost(unit: str, part: Taken) -> list[ExecutionError]:
    """What a worker that was to go on did not find again."""
    found = {case.id for case in part.result.cases}
    lost = [case for case in part.step.only or () if case not in found]
    if not lost or not found:
        return []
    return [
        ExecutionError(
            kind=ErrorKind.LOST_CASES,
            message=f"{len(lost)} cases were not collected again by the worker that went on after a death, "
            f"the first is {lost[0]}",
            unit=unit,
        )
    ]


def _is_believed(result: UnitResult) -> bool:
    """Whether a pass in a later run may stand for the case: a fault of the process beats what it told."""
    return not result.errors and result.death is None


def _add_tries(cases: dict[str, Case], taken: Sequence[Taken], flaky_passes: bool) -> None:
    for one in taken:
        purpose = one.step.purpose
        if purpose in PARTS:
            continue
        for again in one.result.cases:
            wanted = (one.step.suspect,) if one.step.suspect else one.step.only or ()
            case = cases.get(again.id)
            if case is None or again.id not in wanted or again.outcome in UNRUN:
                continue
            tries = (*(case.tries or (case.outcome,)), again.outcome)
            case = msgspec.structs.replace(case, tries=tries)
            if purpose is Purpose.ALONE:
                case = msgspec.structs.replace(case, alone=again.outcome)
            elif purpose is Purpose.AFTER:
                case = msgspec.structs.replace(case, after=again.outcome)
            elif flaky_passes and again.outcome is Outcome.PASSED and _is_believed(one.result):
                case = msgspec.structs.replace(case, outcome=Outcome.PASSED)
            cases[again.id] = case
