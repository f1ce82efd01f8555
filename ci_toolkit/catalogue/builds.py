"""Reads ``conf/builds.yml``: how the subject is built, once for all lanes that share it."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ci_toolkit.catalogue.checks import check_env
from ci_toolkit.catalogue.quantities import seconds
from ci_toolkit.catalogue.schema import ContainerConf
from ci_toolkit.catalogue.yaml_file import dangling, load
from ci_toolkit.errors import UsageError, Where
from ci_toolkit.model.documents import Authored
from ci_toolkit.model.ids import is_lane_id
from ci_toolkit.model.plan import Container

BUILDS = "builds.yml"
MAX_BYTES = 1 << 20


class BuildConf(Authored, frozen=True, kw_only=True):
    """A command that leaves what lanes install in the folder that CI_TOOLKIT_BUILD_OUT names.

    It runs in the repository's root on a runner with the labels ``runs_on``, in ``container`` where there is one.
    """

    run: tuple[str, ...]
    runs_on: tuple[str, ...] = ()
    container: ContainerConf | None = None
    env: dict[str, str] = {}
    timeout: str = "1h"


class BuildsFile(Authored, frozen=True, kw_only=True):
    """``conf/builds.yml``."""

    schema: str
    builds: dict[str, BuildConf]


@dataclass(frozen=True)
class BuildSpec:
    """A build after resolution."""

    id: str
    run: tuple[str, ...]
    runs_on: tuple[str, ...]
    container: Container | None
    env: dict[str, str]
    timeout_s: float


def load_builds(folder: Path) -> dict[str, BuildSpec]:
    """The builds that ``folder/builds.yml`` names, none where there is no such file."""
    path = folder / BUILDS
    misnamed = path.with_suffix(".yaml")
    if misnamed.exists():
        raise UsageError("this name is not read", Where(str(misnamed)), f"call it {BUILDS}")
    if not path.exists() and not path.is_symlink():
        return {}
    file = load(path, BuildsFile, schema="builds/1", limit=MAX_BYTES)
    found = {}
    for name, conf in file.value.builds.items():

        def where(*key: str, name: str = name) -> Where:
            return file.where("builds", name, *key)

        if not is_lane_id(name):
            raise UsageError(f"{name!r} is no name of a build", where(), "use only a-z, 0-9, '_', '.' and '-'")
        if not conf.run or not conf.run[0]:
            raise UsageError("names no command", where("run"))
        check_env(conf.env, lambda key, where=where: where("env", key))  # type: ignore[misc]
        try:
            timeout_s = seconds(conf.timeout)
        except ValueError as error:
            raise UsageError(str(error), where("timeout")) from error
        container = Container(**msgspec.structs.asdict(conf.container)) if conf.container else None
        found[name] = BuildSpec(name, conf.run, conf.runs_on, container, conf.env, timeout_s)
    return found


def check_build(name: str, builds: Collection[str], where: Where) -> None:
    """Raises UsageError for a build that ``builds.yml`` does not have."""
    if name and name not in builds:
        raise dangling(where, "build", name, builds)
