"""Examines a runner: looks at all there is, each thing within its time, and judges it."""

import tempfile
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ci_toolkit.devices.probe import PATIENCE_S
from ci_toolkit.devices.registry import PLANNED, find, names
from ci_toolkit.doctor.addresses import PROXIES, conflicting, place, proxies, without_user
from ci_toolkit.doctor.bounded import Look, Seen, look_all
from ci_toolkit.doctor.judging import disk_check, git_check, machine_checks, orphan_check, proxy_checks, reach_check
from ci_toolkit.doctor.judging_platforms import Place, device_check, interpreter_check, placed, proof_check
from ci_toolkit.doctor.look_devices import Found, Proof, Wish
from ci_toolkit.doctor.look_network import Reached
from ci_toolkit.doctor.machine import Machine, this_machine
from ci_toolkit.doctor.platforms import Asked
from ci_toolkit.model.profile import Check, Disk, Interpreter, Profile
from ci_toolkit.suites.kind import Subject
from ci_toolkit.suites.subject import PATIENCE_S as ASK_S
from ci_toolkit.workers.access import SHARED
from ci_toolkit.workers.hygiene import NOTHING, Cleaned, left_behind

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Limits:
    """How long each look may take, in seconds."""

    disk: float = 20.0
    git: float = 20.0
    network: float = 30.0
    devices: float = 75.0
    interpreter: float = ASK_S + 5.0
    proof: float = PATIENCE_S + 30.0


@dataclass(frozen=True)
class Examiner:
    """Looks at what ``asked`` platforms need, as far as ``environ`` lets it; lanes would write in ``workspace``.

    ``cleaned`` is what was ended of earlier runs before.
    """

    asked: Sequence[Asked]
    workspace: str
    environ: Mapping[str, str]
    stop: Callable[[], object] = bool
    limits: Limits = Limits()
    cleaned: Cleaned = NOTHING

    def profile(self) -> Profile:
        """The runner's profile. Raises UsageError for a device that no module is for."""
        for one in self.asked:
            if one.platform.device not in (*names(), *PLANNED):
                find(one.platform.device)
        machine = this_machine(self.environ)
        first = self._look(self._machine_looks())
        found = {key[1]: seen for key, seen in first.items() if key[0] == "devices"}
        places = {one.platform.name: placed(one, found[one.platform.device]) for one in self.asked}
        here = [one for one in self.asked if places[one.platform.name].devices]
        second = self._look({**_index_looks(first["index", ""], self.limits), **self._platform_looks(here)})
        seen = {**first, **second}
        checks = [
            *machine_checks(machine),
            orphan_check(left_behind(), self.cleaned),
            *_disk_checks(seen),
            git_check(seen["git", ""]),
        ]
        checks += [*proxy_checks(conflicting(self.environ)), *_reach_checks(seen)]
        checks += [device_check(module, one) for module, one in found.items()]
        interpreters: dict[str, Interpreter] = {}
        for one in self.asked:
            checks += self._platform(one, places[one.platform.name], seen, interpreters)
        return _profile(machine, proxies(self.environ), first, places, interpreters, checks)

    def _look(self, looks: Mapping[K, Look[Any]]) -> dict[K, Seen[Any]]:
        return dict(zip(looks, look_all(list(looks.values()), self.stop), strict=True))

    def _machine_looks(self) -> dict[tuple[str, str], Look[Any]]:
        limits = self.limits
        folders = {"workspace": self.workspace, "temporary files": tempfile.gettempdir()}
        modules = dict.fromkeys([*names(), *(one.platform.device for one in self.asked)])
        looks: dict[tuple[str, str], Look[Any]] = {
            ("disk", name): Look("disk", {"folder": folder, "leases": False}, Disk, limits.disk)
            for name, folder in folders.items()
        }
        looks["git", ""] = Look("git", {}, str, limits.git)
        looks["index", ""] = Look("index", {}, tuple[str, ...], limits.network)
        for name, value in self.environ.items():
            if name.lower() in PROXIES and name.lower() != "no_proxy" and value.strip():
                looks["proxy", without_user(value)] = Look("proxy", {"url": value}, Reached, limits.network)
        if self.environ.get("GITHUB_API_URL"):
            url = self.environ["GITHUB_API_URL"]
            looks["GitHub's API", place(url)] = Look("address", {"url": url}, Reached, limits.network)
        for module in modules:
            looks["devices", module] = Look("devices", {"module": module}, Found, limits.devices)
        return looks

    def _platform_looks(self, here: Sequence[Asked]) -> dict[tuple[str, str], Look[Any]]:
        looks: dict[tuple[str, str], Look[Any]] = {}
        for one in here:
            platform = one.platform
            about = {"python": platform.python, "flags": platform.flags, "allow": one.env_allow, "env": one.env}
            looks["interpreter", platform.name] = Look(
                "interpreter", {**about, "base": one.base}, Subject, self.limits.interpreter
            )
            if platform.device not in SHARED and not platform.broker:
                folder = platform.lease_folder
                looks["leases", folder] = Look("disk", {"folder": folder, "leases": True}, Disk, self.limits.disk)
        return looks

    def _platform(
        self,
        one: Asked,
        where: Place,
        seen: Mapping[tuple[str, str], Seen[Any]],
        interpreters: dict[str, Interpreter],
    ) -> list[Check]:
        """A platform's checks. Platforms may share devices, so they are proven one after the other."""
        if not where.devices:
            return [where.fault] if where.fault else []
        check, interpreter = interpreter_check(one, seen["interpreter", one.platform.name])
        if interpreter is None:
            return [check]
        interpreters[one.platform.name] = interpreter
        platform = one.platform
        wish = Wish(
            module=platform.device,
            devices=where.devices,
            interpreter=interpreter.executable,
            flags=platform.flags,
            allow=one.env_allow,
            env=one.env,
            lease_folder=platform.lease_folder,
            broker=platform.broker,
            min_free_bytes=platform.min_free_bytes,
            foreign=platform.foreign,
            patience_s=max(self.limits.proof - 30.0, self.limits.proof / 2),
        )
        proof = self._look({0: Look("proof", {"wish": wish}, Proof, self.limits.proof)})[0]
        return [check, proof_check(one, proof)]


def _index_looks(seen: Seen[tuple[str, ...]], limits: Limits) -> dict[tuple[str, str], Look[Any]]:
    """One look for each package index: its page of pip, as the list of all is long."""
    return {("index", url): Look("address", {"url": _page(url)}, Reached, limits.network) for url in seen.answer or ()}


def _page(index: str) -> str:
    return index if index.startswith("file:") else f"{index.rstrip('/')}/pip/"


def _disk_checks(seen: Mapping[tuple[str, str], Seen[Any]]) -> list[Check]:
    disks = [disk_check(f"disk of {name}", one) for (kind, name), one in seen.items() if kind == "disk"]
    leases = [disk_check("folder of leases", one, least=0) for (kind, _), one in seen.items() if kind == "leases"]
    return [*disks, *leases]


def _reach_checks(seen: Mapping[tuple[str, str], Seen[Any]]) -> list[Check]:
    named = {"proxy": "proxy", "index": "package index", "GitHub's API": "GitHub's API"}
    return [
        reach_check(named[kind], place(shown), one) for (kind, shown), one in seen.items() if kind in named and shown
    ]


def _profile(
    machine: Machine,
    proxy_variables: dict[str, str],
    first: Mapping[tuple[str, str], Seen[Any]],
    places: Mapping[str, Place],
    interpreters: dict[str, Interpreter],
    checks: Sequence[Check],
) -> Profile:
    found = [one.answer for (kind, _), one in first.items() if kind == "devices" and one.answer]
    return Profile(
        host=machine.host,
        runner=machine.runner,
        system=machine.system,
        toolkit=machine.toolkit,
        cpu=machine.cpu,
        cores=machine.cores,
        cores_allowed=machine.cores_allowed,
        memory_bytes=machine.memory_bytes,
        disks={name: one.answer for (kind, name), one in first.items() if kind == "disk" and one.answer},
        proxies=proxy_variables,
        devices=tuple(device for one in found for device in one.devices),
        interpreters=interpreters,
        elsewhere={name: one.elsewhere for name, one in places.items() if one.elsewhere},
        checks=tuple(checks),
    )
