"""What a machine must have left before another worker is started on it."""

import shutil
from pathlib import Path

import psutil

DISK_BYTES = 256 << 20
"""Evidence, logs and temporary files of the workers that run already must still fit."""
MEMORY_BYTES = 512 << 20


def lacking_disk(folder: Path) -> str:
    """Why no worker may write below ``folder``; empty when it may."""
    free = shutil.disk_usage(folder).free
    if free >= DISK_BYTES:
        return ""
    return f"only {free >> 20} MiB are free on the disk of the evidence, {DISK_BYTES >> 20} MiB are needed"


def has_memory() -> bool:
    """Whether another worker may be started beside those that run."""
    return psutil.virtual_memory().available >= MEMORY_BYTES
