"""What this process's control groups leave of the machine."""

from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")


def allowed_cores(root: Path = ROOT, own: Path = OWN) -> float | None:
    """How many processors' time the groups grant; None where they set no limit."""
    found = []
    for group in _groups("cpu", root, own):
        quota, _, period = _text(group / "cpu.max").partition(" ")
        if not quota:
            quota, period = _text(group / "cpu.cfs_quota_us"), _text(group / "cpu.cfs_period_us")
        if quota.isdecimal() and period.isdecimal() and int(period):
            found.append(int(quota) / int(period))
    return min(found, default=None)


def memory_limit(root: Path = ROOT, own: Path = OWN) -> int | None:
    """The least limit of memory in bytes; None where there is none."""
    found = []
    for group in _groups("memory", root, own):
        text = _text(group / "memory.max") or _text(group / "memory.limit_in_bytes")
        if text.isdecimal():
            found.append(int(text))
    return min(found, default=None)


def _groups(controller: str, root: Path, own: Path) -> list[Path]:
    """The folders of this process's groups and of all above them, for one controller."""
    found: list[Path] = []
    for line in _text(own).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        top = root / controllers if controllers else root
        if controllers and not top.is_dir():
            top = root / controller
        place = top / path.lstrip("/")
        # In a container the path may be the host's, and its own group is then what is mounted.
        found += [one for one in (place, *place.parents) if one.is_relative_to(top)]
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
