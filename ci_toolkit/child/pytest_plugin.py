"""The pytest plug-in that writes what happens as events; it changes nothing of what the subject's tests do."""

from __future__ import annotations

import math
from typing import Any, Callable, Generator, Mapping

import pytest

from .device_sync import synchronize
from .events import Events
from .failures import EXCERPT_BYTES, Places, describe
from .orphans import Orphans
from .text import bounded, case_id, encodable, plain_str

CASES_AT_ONCE = 256
UNDECLARED_LISTED = 20
DECLARED_BY = ("mark", "main")
"""pytest's own plug-ins that deselect by ``-m`` and ``-k``, and by ``--deselect``."""


class Recorder:
    """Writes the events of one pytest session.

    ``withheld`` maps ids to the reason why they are never executed; ``only``, when given, are the ids to execute.
    ``ready`` is called before the first case runs.
    """

    def __init__(
        self,
        events: Events,
        root: str,
        withheld: Mapping[str, str],
        only: set[str] | None,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        self._events = events
        self._places = Places(root)
        self._withheld = withheld
        self._only = only
        self._ready = ready
        self._orphans = Orphans()
        self._broken = False
        self._seen: list[pytest.Item] = []
        self._declared: set[int] = set()
        self._calls: dict[tuple[str, str], Any] = {}
        self._collect_raised: dict[str, Any] = {}
        self._teardown: dict[str, Any] = {}

    # What other plug-ins would do to the run -----------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: pytest.Config, args: list[str]) -> None:
        known = early_config.known_args_namespace
        if hasattr(known, "numprocesses"):
            args.append("-n0")
        if hasattr(known, "reruns") and (known.reruns or _ini(early_config, "reruns")):
            args.append("--reruns=0")

    # Collection ----------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        for implementation in session.config.hook.pytest_collection_modifyitems.get_hookimpls():
            if implementation.plugin_name in DECLARED_BY:
                # pluggy has no way to wrap one plug-in's hook; where this fails all deselection is undeclared.
                implementation.function = self._noting_declared(implementation.function)  # type: ignore[misc]

    def _noting_declared(self, function: Callable[..., object]) -> Callable[..., None]:
        def pytest_collection_modifyitems(*arguments: object) -> None:
            items = next(argument for argument in arguments if isinstance(argument, list))
            before = list(items)
            function(*arguments)
            self._declared.update(set(map(id, before)) - set(map(id, items)))

        return pytest_collection_modifyitems

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        self._seen.append(item)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, None]:
        outcome = yield
        if outcome.excinfo is None:
            call = outcome.get_result().__dict__.get("call")
            if call is not None and call.excinfo is not None:
                self._collect_raised[collector.nodeid] = call.excinfo

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        raised = self._collect_raised.pop(report.nodeid, None)
        if report.passed:
            return
        failure = None
        if raised is not None and not report.skipped:
            failure = self._failure(raised, "collect", report)
        self._events.emit(
            "collect_error",
            id=case_id(report.nodeid),
            outcome=report.outcome,
            reason=_reason(report) if report.skipped else bounded(plain_str(report.longrepr), EXCERPT_BYTES),
            **_given(failure=failure),
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        kept: list[pytest.Item] = []
        withheld: list[pytest.Item] = []
        unasked: list[pytest.Item] = []
        rows: dict[int, dict[str, Any]] = {}
        ids: set[str] = set()
        duplicates: dict[str, None] = {}
        for item in session.items:
            identity = case_id(item.nodeid)
            if self._only is not None and identity not in self._only:
                unasked.append(item)
                continue
            reason = self._withheld.get(identity)
            (kept if reason is None else withheld).append(item)
            rows[id(item)] = _row(item, identity, reason)
            if identity in ids:
                duplicates[identity] = None
            ids.add(identity)
        # A plug-in may run the cases in another order each time; they are told in the order of the source.
        order = {id(item): at for at, item in enumerate(self._seen)}
        ordered = [rows[key] for key in sorted(rows, key=lambda key: order.get(key, len(order)))]
        for start in range(0, len(ordered), CASES_AT_ONCE):
            self._events.emit("cases", rows=ordered[start : start + CASES_AT_ONCE])
        self._report_deselected(session.items, unasked)
        if withheld or unasked:
            session.config.hook.pytest_deselected(items=withheld + unasked)
            session.items[:] = kept
        self._events.emit("collected", count=len(rows), withheld=len(withheld), duplicates=list(duplicates))
        self._seen, self._declared = [], set()
        self._ready()

    def _report_deselected(self, items: list[pytest.Item], unasked: list[pytest.Item]) -> None:
        final = set(map(id, items))
        gone = [item for item in self._seen if id(item) not in final]
        undeclared = [item.nodeid for item in gone if id(item) not in self._declared]
        declared = len(gone) - len(undeclared) + len(unasked)
        if declared:
            self._events.emit("deselected", count=declared, declared=True)
        if undeclared:
            ids = [case_id(nodeid) for nodeid in undeclared[:UNDECLARED_LISTED]]
            self._events.emit("deselected", count=len(undeclared), declared=False, ids=ids)

    # Execution -----------------------------------------------------------------------------------------------------

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, None]:
        identity = case_id(item.nodeid)
        self._events.emit("start", id=identity)
        outcome = yield
        self._calls.clear()
        if outcome.excinfo is None:
            # A teardown that passed is told in the same line: each line of a small case costs what its test costs.
            teardown, self._teardown = self._teardown, {}
            orphans = self._orphans.new()
            if orphans:
                teardown["orphans"] = orphans
            self._events.emit("finish", id=identity, **teardown)
            if self._broken:
                # Whatever ran next in this process would fail too, or seem to pass.
                self._events.emit("stopped", by="device", id=identity)
                item.session.shouldstop = "the device's context broke in " + identity

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        synchronize()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> None:
        # Only the call knows the exception; other plug-ins may still put another one into it.
        self._calls[(item.nodeid, call.when)] = call

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        call = self._calls.pop((report.nodeid, report.when), None)
        subtest = type(report).__name__ in ("SubtestReport", "SubTestReport")
        if report.outcome == "passed" and not hasattr(report, "wasxfail"):
            if report.when == "teardown":
                self._teardown = _given(when="teardown", seconds=_seconds(report))
            elif not subtest:
                self._phase(report, "passed", seconds=_seconds(report))
            return
        outcome, reason, rerun = _outcome(report)
        raised = None if call is None else call.excinfo
        failure = None
        if outcome not in ("passed", "skipped", "xpassed"):
            if raised is not None and type(raised.value).__name__ not in ("XFailed", "Skipped"):
                failure = self._failure(raised, report.when, report)
            elif outcome != "xfailed":
                failure = _without_exception(report, reason)
        said = bounded(plain_str(getattr(report, "context", "")), 200) if subtest else None
        self._phase(
            report,
            outcome,
            **_given(seconds=_seconds(report), reason=reason, failure=failure, rerun=rerun, subtest=said),
        )

    def _phase(self, report: pytest.TestReport, outcome: str, **fields: Any) -> None:
        if self._teardown:
            # Another try of the same case follows.
            self._events.emit("phase", id=case_id(report.nodeid), outcome="passed", **self._teardown)
            self._teardown = {}
        self._events.emit("phase", id=case_id(report.nodeid), when=report.when, outcome=outcome, **fields)

    # Ends ----------------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        self._events.emit("stopped", by="interrupt", failure=self._failure(excinfo, "call", None))

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excrepr: object, excinfo: Any) -> None:
        failure = describe(excinfo.value, excinfo.tb, "call", self._places, plain_str(excrepr))
        self._events.emit("stopped", by="internal_error", failure=failure)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        stop = getattr(session, "shouldfail", False) or getattr(session, "shouldstop", False)
        if stop:
            self._events.emit("stopped", by="session", reason=bounded(plain_str(stop), 1000))

    def _failure(self, raised: Any, stage: str, report: Any) -> dict[str, Any]:
        value, traceback = raised.value, raised.tb
        if type(value).__name__ == "CollectError" and value.__cause__ is not None:
            value = value.__cause__
            traceback = value.__traceback__
        text = "" if report is None else plain_str(report.longrepr)
        failure = describe(value, traceback, stage, self._places, text)
        self._broken = self._broken or (failure["cause"] == "device" and stage != "collect")
        return failure


def _row(item: pytest.Item, identity: str, withheld: str | None) -> dict[str, Any]:
    """A case as a row: id, line, and what else is known. The file is left out where the id begins with it."""
    file, line, _ = item.location
    file = file.replace("\\", "/")
    if file.startswith("..") or not file:
        file, line = item.nodeid.partition("::")[0], None
    row: dict[str, Any] = {"id": identity}
    if line is not None and line >= 0:
        row["line"] = line + 1
    if not identity.startswith(file + "::"):
        row["file"] = case_id(file)
    if identity != item.nodeid:
        row["nodeid"] = encodable(item.nodeid)
    if withheld is not None:
        row["withheld"] = withheld
    return row


def _outcome(report: Any) -> tuple[str, str, bool | None]:
    """(outcome, reason, whether another try follows) of a phase."""
    expected = getattr(report, "wasxfail", None)
    if report.outcome == "rerun":
        return "failed" if report.when == "call" else "error", "", True
    if expected is not None:
        reason = plain_str(expected)
        reason = reason[len("reason: ") :] if reason.startswith("reason: ") else reason
        return {"skipped": "xfailed", "passed": "xpassed"}.get(report.outcome, report.outcome), _bounded(reason), None
    if report.outcome == "skipped":
        return "skipped", _reason(report), None
    if report.outcome == "failed" and report.when != "call":
        return "error", "", None
    strict = isinstance(report.longrepr, str) and report.longrepr.startswith("[XPASS(strict)]")
    return report.outcome, _bounded(report.longrepr) if strict else "", None


def _without_exception(report: Any, reason: str) -> dict[str, Any]:
    """The failure of a report that no exception made: a strict xpass, or what a plug-in decided."""
    text = plain_str(report.longrepr or reason)
    strict = text.startswith("[XPASS(strict)]")
    return {
        "stage": report.when,
        "cause": "assertion",
        "exception": "XPASS(strict)" if strict else "",
        "message": _bounded(text),
        "frames": [],
        "excerpt": bounded(text, EXCERPT_BYTES),
    }


def _reason(report: Any) -> str:
    """A skip's reason without the place that pytest puts before it."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    text = plain_str(text)
    return _bounded(text[len("Skipped: ") :] if text.startswith("Skipped: ") else text)


def _bounded(text: str) -> str:
    return bounded(text, 1000)


def _seconds(report: Any) -> float | None:
    duration = getattr(report, "duration", None)
    if isinstance(duration, (int, float)) and math.isfinite(duration) and duration >= 0:
        return round(duration, 6)
    return None


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None and value != ""}


def _ini(config: pytest.Config, name: str) -> object:
    try:
        return config.getini(name)
    except (KeyError, ValueError):
        return None
