"""Devices are found by name; what this machine can't give has a reason that a person understands."""

import platform
import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from ci_toolkit.devices import registry
from ci_toolkit.errors import UsageError
from ci_toolkit.model.plan import ExpectedDevice


def expected(module="cpu", **rest):
    return ExpectedDevice(module=module, **rest)


@pytest.fixture
def added(monkeypatch):
    """Registers a module of the given content as the device ``npu``."""

    def add(**content):
        module = ModuleType("a_device")
        module.__dict__.update(content)
        monkeypatch.setitem(sys.modules, "a_device", module)
        point = EntryPoint("npu", "a_device", registry.GROUP)
        monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == registry.GROUP else [])

    return add


def test_the_processor_is_always_there():
    (device,), reason = registry.available(expected(arch=platform.machine(), count=1))
    assert (device.module, device.index, device.arch, reason) == ("cpu", 0, platform.machine(), "")
    assert device.name
    assert device.memory_bytes > 1 << 20
    assert registry.find("cpu").mask([device]) == {}


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (expected(arch="s390x"), f"asks for cpu of architecture s390x, this machine has {platform.machine()}"),
        (expected(count=2), "asks for 2 devices cpu, this machine has 1"),
        (expected("musa", count=1), "this version has no module for device musa"),
    ],
)
def test_what_is_not_there_has_a_reason(asked, reason):
    assert registry.available(asked) == ((), reason)


def test_a_name_that_nobody_knows_is_the_users_mistake():
    with pytest.raises(UsageError, match=r"there is no device 'cudaa'; did you mean cuda\?"):
        registry.find("cudaa")
    with pytest.raises(UsageError, match="known devices: ascend, cpu, cuda"):
        registry.find("quantum-teapot")


def test_a_package_may_add_a_device(added):
    added(discover=lambda: ((), "the driver is not loaded"), mask=lambda devices: {})
    assert registry.available(expected("npu")) == ((), "the driver is not loaded")


def test_a_module_that_does_not_fit_is_named(added):
    added(discover=lambda: ((), ""))
    with pytest.raises(UsageError, match="device 'npu' of a_device has no mask"):
        registry.find("npu")


def test_a_module_that_can_not_be_imported_is_named(monkeypatch):
    point = EntryPoint("npu", "no_such_module_here", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    with pytest.raises(UsageError, match="device 'npu' can not be loaded from no_such_module_here"):
        registry.find("npu")
