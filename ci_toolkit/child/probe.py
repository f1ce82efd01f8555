"""Proves which devices a subject's interpreter really uses: ``probe DEVICE COUNT`` prints one line of JSON at the end.

What a library says of itself (``is_available``) is no proof; the result of a kernel that ran on the device is.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import platform
import sys

from .text import bounded, plain_str
from .tree import die_with_parent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = "probe/1"
LENGTH = 1 << 16
PROOF = 3 * (LENGTH * (LENGTH - 1) // 2) + LENGTH
"""The sum of ``3 * n + 1`` over ``LENGTH`` numbers from 0."""
TEXT_BYTES = 2000


def main(arguments: list[str]) -> int:
    """``DEVICE COUNT``: the device module's name, and how many devices the environment should let this process see."""
    die_with_parent(os.getppid())
    line = json.dumps(answer(arguments[0], int(arguments[1]))).encode() + b"\n"
    sys.stdout.flush()
    os.write(1, b"\n")
    while line:
        line = line[os.write(1, line) :]
    return 0


def answer(name: str, count: int) -> dict[str, Any]:
    """What the devices of the module ``name`` that this process sees are, after a kernel ran on each of ``count``."""
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "device": name,
        "host": platform.node(),
        "python": platform.python_version(),
        "devices": [],
    }
    if name in _PROBES:
        _PROBES[name](found, count)
    else:
        found["error"] = {"stage": "module", "type": "", "text": "there is no probe for %s" % name}
    return found


def _cpu(answer: dict[str, Any], count: int) -> None:
    total = sum(3 * value + 1 for value in range(LENGTH))
    error = "" if total == PROOF else "a sum was %d instead of %d" % (total, PROOF)
    answer["devices"].append({"name": platform.machine(), "arch": platform.machine(), "error": error})


def _cuda(answer: dict[str, Any], count: int) -> None:
    stage = "import"
    try:
        torch: Any = importlib.import_module("torch")

        answer["torch"] = plain_str(torch.__version__)
        answer["runtime"] = getattr(torch.version, "cuda", None) or ""
        if not answer["runtime"]:
            other = getattr(torch.version, "hip", None)
            text = "for ROCm %s" % other if other else ""
            answer["error"] = {"stage": "build", "type": "", "text": text}
            return
        stage = "start"
        torch.cuda.init()
        visible = torch.cuda.device_count()
        stage = "kernel"
        for ordinal in range(visible):
            # Where more is visible than was asked for, some of it is somebody else's: nothing is run on it.
            answer["devices"].append(_cuda_device(torch, ordinal, prove=visible == count))
    except BaseException as error:  # noqa: BLE001 - a library under test may raise anything
        answer["error"] = _told(error, stage)


def _cuda_device(torch: Any, ordinal: int, prove: bool) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(ordinal)
    uuid = getattr(properties, "uuid", None)
    found: dict[str, Any] = {
        "name": plain_str(properties.name),
        "arch": "sm_%d%d" % (properties.major, properties.minor),
        "uuid": plain_str(uuid) if uuid else "",
        "memory_bytes": int(properties.total_memory),
        "multiprocessors": int(properties.multi_processor_count),
        "error": "",
    }
    instance = _cuda_driver_uuid(ordinal)
    if instance and instance != found["uuid"]:
        found["instance_uuid"] = instance
    if prove:
        try:
            found["error"] = _prove(torch, "cuda", ordinal)
        except Exception as error:  # noqa: BLE001 - each device has its own answer
            found.update(_told(error, "kernel"))
            found["error"] = found.pop("text")
    return found


def _prove(torch: Any, kind: str, ordinal: int) -> str:
    """Runs a kernel on one device; empty when it ran there and gave the known result."""
    values = torch.arange(LENGTH, dtype=torch.int64, device="%s:%d" % (kind, ordinal)) * 3 + 1
    total = values.sum()
    getattr(torch, kind).synchronize(ordinal)
    for tensor in (values, total):
        if (tensor.device.type, tensor.device.index) != (kind, ordinal):
            return "a kernel ran on %s instead of %s:%d" % (tensor.device, kind, ordinal)
    if int(total.item()) != PROOF:
        return "a kernel gave %d instead of %d" % (int(total.item()), PROOF)
    return ""


def _cuda_driver_uuid(ordinal: int) -> str:
    """What the driver calls the device, a MIG device by its own UUID; empty where it can't be asked."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        device, raw = ctypes.c_int(), (ctypes.c_ubyte * 16)()
        if driver.cuDeviceGet(ctypes.byref(device), ordinal) or driver.cuDeviceGetUuid_v2(raw, device):
            return ""
    except (OSError, AttributeError):
        return ""
    text = bytes(raw).hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _told(error: BaseException, stage: str) -> dict[str, str]:
    return {"stage": stage, "type": type(error).__name__, "text": bounded(plain_str(error), TEXT_BYTES)}


_PROBES = {"cpu": _cpu, "cuda": _cuda}
