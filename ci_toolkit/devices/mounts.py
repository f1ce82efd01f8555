"""Which file system a folder lies on, as far as it matters to locks."""

import re
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
NETWORK = frozenset(
    {
        *("9p", "afs", "beegfs", "ceph", "cifs", "gfs2", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs"),
        *("pvfs2", "smb3", "smbfs", "vboxsf", "virtiofs", "fuse.ceph", "fuse.glusterfs", "fuse.sshfs"),
    }
)
_OCTAL = re.compile(r"\\([0-7]{3})")


def network_type(folder: Path, mounts: str | None = None) -> str:
    """The type of the network file system that holds ``folder``, empty for a local one and where nobody can tell.

    ``mounts`` is the text of ``mountinfo``, by default this system's.
    """
    if mounts is None:
        mounts = MOUNTS.read_text(errors="surrogateescape") if MOUNTS.exists() else ""
    place, kind = -1, ""
    resolved = folder.resolve()
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        mount = Path(_OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4]))
        # Of several mounts on one place the last one is seen.
        if resolved.is_relative_to(mount) and len(mount.parts) >= place:
            place, kind = len(mount.parts), after.split(" ")[0]
    return kind if kind in NETWORK else ""
