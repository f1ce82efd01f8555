"""Limits of control groups, of both versions and of every level."""

from pathlib import Path

from ci_toolkit.doctor.cgroups import allowed_cores, memory_limit


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_tightest_limit_of_all_levels_counts(tmp_path: Path) -> None:
    own = write(tmp_path / "own", "0::/a/b\n")
    write(tmp_path / "cg/cpu.max", "max 100000\n")
    write(tmp_path / "cg/a/cpu.max", "150000 100000\n")
    write(tmp_path / "cg/a/b/cpu.max", "400000 100000\n")
    write(tmp_path / "cg/a/memory.max", "max\n")
    write(tmp_path / "cg/a/b/memory.max", "1048576\n")
    assert allowed_cores(tmp_path / "cg", own) == 1.5
    assert memory_limit(tmp_path / "cg", own) == 1 << 20


def test_the_first_version_with_controllers_mounted_together(tmp_path: Path) -> None:
    own = write(tmp_path / "own", "5:cpu,cpuacct:/x\n4:memory:/gone/from/here\n0::/\n")
    write(tmp_path / "cg/cpu,cpuacct/x/cpu.cfs_quota_us", "50000\n")
    write(tmp_path / "cg/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n")
    write(tmp_path / "cg/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
    write(tmp_path / "cg/memory/memory.limit_in_bytes", "2097152\n")
    assert allowed_cores(tmp_path / "cg", own) == 0.5
    assert memory_limit(tmp_path / "cg", own) == 2 << 20


def test_no_groups_set_no_limit(tmp_path: Path) -> None:
    assert allowed_cores(tmp_path, tmp_path / "none") is None
    assert memory_limit(tmp_path, write(tmp_path / "own", "nonsense\n\n::\n")) is None
