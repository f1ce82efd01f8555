"""What became of an upstream's test file: what its session told, and who answered for the upstream."""

from collections.abc import Iterable
from dataclasses import replace

import msgspec

from ci_toolkit.model.documents import Record
from ci_toolkit.model.outcome import Cause
from ci_toolkit.model.report import ErrorKind, ExecutionError, Provider, WorkerEnd
from ci_toolkit.model.text import clip, visible
from ci_toolkit.suites.kind import Account, UnitResult
from ci_toolkit.suites.pytest.decode import decode as decode_session

MESSAGE_BYTES = 2048


class _Fault(Record, frozen=True):
    kind: str
    message: str


class _Event(Record, frozen=True, rename={"kind": "e", "nonce": "n"}):
    kind: str
    nonce: str = ""
    reason: str = ""
    modules: tuple[Provider, ...] = ()
    tests: dict[str, str] = {}
    faults: tuple[_Fault, ...] = ()


_DECODER = msgspec.json.Decoder(_Event)
_TOLD = frozenset({"providers", "refused"})


def decode(unit: str, account: Account, root: str) -> UnitResult:
    """What became of the unit. A worker that came to its end and does not tell who answered proves nothing."""
    result = decode_session(unit, account, root)
    told = _told(account)
    errors = [_error(ErrorKind.ALIAS_REFUSED, event.reason, unit, account) for event in told if event.kind == "refused"]
    last = next((event for event in reversed(told) if event.kind == "providers"), None)
    if last is None and not errors and account.worker.end is WorkerEnd.COMPLETED:
        errors.append(_error(ErrorKind.PROVIDERS_UNKNOWN, "does not tell who answered for the upstream", unit, account))
    for fault in last.faults if last else ():
        if fault.kind == ErrorKind.CANDIDATE_NOT_IMPORTED and not result.cases and result.errors:
            continue  # what kept its tests from being collected says it
        errors.append(_error(_kind(fault.kind), fault.message, unit, account))
    return replace(result, errors=(*result.errors, *errors), providers=last.modules if last else ())


def _told(account: Account) -> list[_Event]:
    try:
        with account.events.open("rb") as lines:
            return [event for event in _decoded(lines) if event.nonce == account.nonce and event.kind in _TOLD]
    except FileNotFoundError:
        return []


def _decoded(lines: Iterable[bytes]) -> Iterable[_Event]:
    for line in lines:
        if b'"providers"' in line or b'"refused"' in line:
            try:
                yield _DECODER.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):  # told by the session's reader, which counts them
                continue


def _kind(name: str) -> ErrorKind:
    try:
        return ErrorKind(name)
    except ValueError:
        return ErrorKind.PROVIDERS_UNKNOWN


def _error(kind: ErrorKind, message: str, unit: str, account: Account) -> ExecutionError:
    text = clip(visible(message), MESSAGE_BYTES)
    return ExecutionError(kind=kind, message=text, cause=Cause.EXCEPTION, unit=unit, worker=account.worker.number)
