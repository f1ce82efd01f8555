"""Who else is on a card, and how much memory is free there."""

from contextlib import suppress

import psutil

from ci_toolkit.devices.admission import ForeignProcess, Usage
from ci_toolkit.devices.cuda import driver
from ci_toolkit.devices.cuda.cards import NoAnswerError
from ci_toolkit.model.report import Device


def usage(device: Device) -> Usage | None:
    """Free memory and processes of ``device``; None where the driver does not tell.

    A process of another container has a number that means nothing here, so it may have neither name nor user.
    """
    try:
        free, processes = driver.memory_and_processes(device.uuid)
    except NoAnswerError:
        return None
    return Usage(free_bytes=free, processes=tuple(_process(pid, used) for pid, used in processes))


def _process(pid: int, used_bytes: int | None) -> ForeignProcess:
    name = user = ""
    with suppress(psutil.Error, KeyError, OSError):  # KeyError: a user without an entry in the system's list
        process = psutil.Process(pid)
        name = process.name()
        user = process.username()
    return ForeignProcess(pid=pid, name=name, user=user, used_bytes=used_bytes)
