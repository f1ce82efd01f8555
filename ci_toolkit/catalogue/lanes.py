"""The resolved conf of a lane: what the other rooms see of the catalogue."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ci_toolkit.catalogue.conformance import CONTROL, ConformanceConf
from ci_toolkit.model.ids import lane_id
from ci_toolkit.model.plan import Container, Lane
from ci_toolkit.model.request import Limits


@dataclass(frozen=True)
class Platform:
    """A platform after resolution; ``python`` is empty for the host's own interpreter.

    ``lease_folder`` is where its devices are leased, empty for the system's own folder, unless a ``broker`` command
    grants them; the rest says when one is used. ``boards`` is how many runners there are (0: no limit), ``container``
    what the jobs of a workflow run in, ``build`` what its lanes test.
    """

    name: str
    device: str
    arch: str
    count: int
    python: str
    flags: tuple[str, ...]
    runs_on: tuple[str, ...]
    lease_folder: str = ""
    broker: tuple[str, ...] = ()
    min_free_bytes: int = 0
    foreign: str = "wait"
    wait_s: float = 600.0
    boards: int = 0
    build: str = ""
    container: Container | None = None


@dataclass(frozen=True)
class LaneConf:
    """All that a lane's run needs from conf, with overrides applied.

    ``base`` is the repository's root (the folder that holds ``conf/``) as an absolute path, and ``conf`` the conf
    folder itself. ``root_path`` is relative to ``base`` and empty when ``root_distribution`` names a distribution.
    ``env`` are settings of platform, suite and variant, in that order; ``env_allow`` names (globs) that pass from the
    host's environment. ``ratchet`` is the folder of the suite's ratchet, relative to ``conf``, and empty when all must
    pass. ``budget`` is how many workers the lane may lose, ``confirm`` how often a new failure is run again in a fresh
    worker; ``flaky_passes``: one pass among these counts. ``sources`` says where each value came from. ``digest``
    covers all that is not of one machine.
    """

    lane: Lane
    platform: Platform
    base: str
    conf: str
    root_path: str
    root_distribution: str
    paths: tuple[str, ...]
    exclude: tuple[str, ...]
    sample: tuple[str, ...]
    marker: str
    keyword: str
    args: tuple[str, ...]
    env: dict[str, str]
    env_allow: tuple[str, ...]
    requires: dict[str, str]
    subject: tuple[str, ...]
    limits: Limits
    start: str
    preload: tuple[str, ...]
    width: int
    budget: int
    confirm: int
    flaky_passes: bool
    ratchet: str
    owner: str
    digest: str
    conformance: ConformanceConf | None = None
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def is_control(self) -> bool:
        """Whether the upstream itself is tested here."""
        return self.conformance is not None and self.lane.variant == CONTROL

    @property
    def control_lane(self) -> str:
        """The lane that tests the upstream itself, beside one of its candidates; empty where there is none."""
        if self.conformance is None or not self.conformance.control or self.is_control:
            return ""
        return lane_id(self.lane.suite, self.lane.platform, CONTROL, self.lane.shard)

    @property
    def expectations(self) -> str:
        """The name of the ratchet's file, without its ending: the platform, and the control's own."""
        return f"{self.lane.platform}.{CONTROL}" if self.is_control else self.lane.platform
