"""Runs any command on leased devices."""

import math
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence

from ci_toolkit.errors import InfrastructureError, UsageError
from ci_toolkit.workers.devices import DevicePool, Grant
from ci_toolkit.workers.stop import Stop

RETRY_S = 0.1
GRACE_S = 5.0
"""A cancelled job is killed 10 s after its first signal."""


def run_leased(pool: DevicePool, count: int, argv: Sequence[str], stop: Stop, say: Callable[[str], None]) -> int:
    """Waits for ``count`` devices, runs ``argv`` with only these shown, and returns its exit status.

    ``say`` is told once why it waits. A stop is passed on to the command as SIGTERM, and after GRACE_S as SIGKILL.
    Raises InfrastructureError when no device gets free in time, UsageError for a command that can not be started.
    """
    grant = _wait(pool, count, stop, say)
    if grant is None:
        return 130
    try:
        return _run(argv, {**os.environ, **grant.mask}, [lease.fileno() for lease in grant.leases], stop)
    finally:
        for lease in grant.leases:
            lease.close()
        pool.give_back(grant.devices)


def _wait(pool: DevicePool, count: int, stop: Stop, say: Callable[[str], None]) -> Grant | None:
    deadline = time.monotonic() + pool.access.wait_s
    said = False
    while not stop:
        grant = pool.take(count)
        if grant is not None:
            return grant
        if time.monotonic() >= deadline:
            raise InfrastructureError(f"no device within {pool.access.wait_s:g} s: {pool.reason}")
        if not said:
            say(f"waiting: {pool.reason}")
            said = True
        time.sleep(RETRY_S)
    return None


def _run(argv: Sequence[str], env: dict[str, str], leases: Sequence[int], stop: Stop) -> int:
    try:
        # The command holds the leases too: should this process be killed, it runs on with its devices.
        process = subprocess.Popen(argv, env=env, pass_fds=leases)
    except OSError as error:
        raise UsageError(f"{argv[0]} can not be started: {error.strerror}") from error
    kill_at = math.inf
    while True:
        try:
            status = process.wait(RETRY_S)
        except subprocess.TimeoutExpired:
            if stop and kill_at == math.inf:
                process.send_signal(signal.SIGTERM)
                kill_at = time.monotonic() + GRACE_S
            elif time.monotonic() >= kill_at:
                process.kill()
            continue
        return 128 - status if status < 0 else status
