"""Makes a worker that was forked from a server like one that was started afresh."""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import random
import re
import signal
import sys
import tempfile
import threading
import time
import traceback
from typing import Any, Iterable

from . import worker

_BLAS = re.compile(r"/[^/]*(?:openblas|blis|libgomp|libomp|libiomp)[^/]*$")
_SETTERS = (
    "openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "scipy_openblas_set_num_threads64_",
    "bli_thread_set_num_threads",
    "omp_set_num_threads",
)


def begin(spec: dict[str, Any], channel: int, kept: Iterable[int]) -> None:
    """Runs the worker in this forked process and ends it with the worker's status; never returns.

    ``kept`` are the descriptors that the server's preloaded libraries hold; all others but the standard ones and the
    channel are closed, as a lock that one of them carries would live on here.
    """
    close_others({0, 1, 2, channel, *kept})
    code = 1
    try:
        _refresh(spec)
        code = worker.main([spec["argv"][-2], str(channel)], "fork")
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001 - as an interpreter does with what nobody caught
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF)


def _refresh(spec: dict[str, Any]) -> None:
    """Gives this process what a fresh interpreter would have."""
    os.environ.clear()
    os.environ.update(spec["env"])
    time.tzset()
    tempfile.tempdir = None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    sys.argv[:] = [spec["argv"][-4], *spec["argv"][-2:]]
    reseed(spec["seed"])
    if spec["quiet"]:
        set_threads(_wanted_threads())
    if spec["backends"]:
        _load_device_backends()


def close_others(kept: Iterable[int]) -> None:
    """Closes every descriptor that is not in ``kept``."""
    for descriptor in descriptors().difference(kept):
        os.close(descriptor)


def descriptors() -> set[int]:
    """The open descriptors of this process."""
    with os.scandir("/proc/self/fd") as entries:
        found = {int(entry.name) for entry in entries}
    return {descriptor for descriptor in found if os.path.exists("/proc/self/fd/%d" % descriptor)}  # noqa: PTH110


def reseed(text: str) -> None:
    """Seeds Python's, NumPy's and torch's generators from ``text``: forks of one server would draw the same numbers."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "little")
    random.seed(seed)
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed(seed & 0xFFFFFFFF)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed & 0x7FFFFFFFFFFFFFFF)


def set_threads(count: int) -> None:
    """Gives BLAS and OpenMP, which the server holds at one thread, their number back."""
    for path in _loaded_libraries():
        library = ctypes.CDLL(path)
        for name in _SETTERS:
            setter = getattr(library, name, None)
            if setter is not None:
                setter(ctypes.c_int(count))
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(count)


def _wanted_threads() -> int:
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0))


def _loaded_libraries() -> list[str]:
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:  # noqa: PTH123
        paths = {line.split(maxsplit=5)[-1].rstrip("\n") for line in maps if "/" in line}
    return sorted(path for path in paths if _BLAS.search(path))


def _load_device_backends() -> None:
    """Loads torch's out-of-tree device backends, which the server kept out, unless the suite wants none."""
    torch = sys.modules.get("torch")
    load = getattr(torch, "_import_device_backends", None)
    if load is not None and os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "1":
        load()
