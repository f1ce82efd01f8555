"""The head of a lane's report: the contract that makes runs comparable, and the facts that ratchets ask for."""

from collections.abc import Iterable, Mapping, Sequence

from ci_toolkit.catalogue.lanes import LaneConf
from ci_toolkit.formats.digests import digest_of
from ci_toolkit.model.report import ContractField, Device, Strictness, Worker
from ci_toolkit.model.signature import SCHEME
from ci_toolkit.suites.kind import Subject
from ci_toolkit.suites.subject import facts_of, normalised


def contract(
    conf: LaneConf,
    subject: Subject,
    workers: Iterable[Worker],
    runner_versions: Iterable[str],
    more: Mapping[str, str],
) -> dict[str, ContractField]:
    """What must be equal for two runs to be compared, ``more`` of its kind, and what is only shown when it changes."""
    selection = [conf.paths, conf.exclude, conf.marker, conf.keyword, conf.args]
    strict = {
        "selection": digest_of(selection),
        "env": digest_of(conf.env),
        "start": conf.start,
        "signature_scheme": str(SCHEME),
        "python": ".".join(subject.python.split(".")[:2]),
        "system": subject.system,
        **more,
    }
    for name in map(normalised, conf.subject):
        if name in subject.packages:
            strict[f"package.{name}"] = subject.packages[name]
    tracked = {
        "python.patch": subject.python,
        "start.observed": _joined(worker.start_mode for worker in workers),
        conf.lane.kind: _joined(runner_versions),
    }
    return {
        **{name: ContractField(value=value) for name, value in strict.items()},
        **{name: ContractField(value=value, strictness=Strictness.TRACKED) for name, value in tracked.items() if value},
    }


def facts(subject: Subject, devices: Sequence[Device]) -> dict[str, str]:
    """The subject's facts, and name and architecture of the lane's first device."""
    found = facts_of(subject)
    if devices:
        found["device.name"] = devices[0].name
        if devices[0].arch:
            found["device.arch"] = devices[0].arch
    return found


def _joined(values: Iterable[str]) -> str:
    return ", ".join(sorted({value for value in values if value}))
