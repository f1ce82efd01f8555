"""A machine's driver, played by recorded outputs: ``nvidia-smi`` is a real program, only ``pynvml`` is a fake."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from ci_toolkit.devices.cuda import driver

INPUTS = Path(__file__).parent / "inputs"
UUID = "GPU-8450de50-50fd-d44d-3afd-3f59a47cabaa"


def recorded(name: str) -> str:
    return (INPUTS / name).read_text(encoding="utf-8")


@pytest.fixture
def bare(monkeypatch, tmp_path) -> Path:
    """A machine without driver, nvidia-smi, nvidia-ml-py and CUDA_VISIBLE_DEVICES; its path is the returned folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setattr(driver, "LOADED", tmp_path / "no-such-driver")
    return folder


@pytest.fixture
def smi(bare: Path) -> Callable[[str], None]:
    """Puts a program ``nvidia-smi`` on the path; its body is Python and finds the arguments in ``asked``."""

    def install(body: str) -> None:
        program = bare / "nvidia-smi"
        head = f"#!{sys.executable} -IS\nimport sys, time, pathlib\nasked = ' '.join(sys.argv[1:])\n"
        told = f"def told(name): print(pathlib.Path({str(INPUTS)!r}, name).read_text(), end='')\n"
        program.write_text(head + told + body, encoding="utf-8")
        program.chmod(0o755)

    return install


H200 = """
if '--query-gpu=index' in asked: told('query.csv')
elif '--query-gpu=memory.free' in asked: print('memory.free [MiB]\\n143156')
elif '--query-compute-apps' in asked: told('busy_apps.csv')
elif '-q' in sys.argv: told('smi_q.txt')
elif '-L' in sys.argv: told('smi_L.txt')
else: sys.exit('unknown: ' + asked)
"""


class FakeNvml(ModuleType):
    """NVML with the given cards; a card that is an exception raises it when it is asked for."""

    def __init__(self, cards: dict[str, object], failure: str = "") -> None:
        super().__init__("pynvml")
        self.NVMLError = type("NVMLError", (Exception,), {})
        for name in ("LibraryNotFound", "NotSupported", "NotFound", "FunctionNotFound", "GpuIsLost", "NoPermission"):
            setattr(self, f"NVMLError_{name}", type(f"NVMLError_{name}", (self.NVMLError,), {}))
        self._cards = list(cards.values())
        self._failure = failure
        self.open = 0

    def fault(self, name: str, text: str) -> Exception:
        return getattr(self, f"NVMLError_{name}")(text)

    def nvmlInit(self) -> None:  # noqa: N802
        if self._failure:
            raise self.fault(self._failure, "NVML Shared Library Not Found")
        self.open += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.open -= 1

    def nvmlSystemGetDriverVersion(self) -> str:  # noqa: N802
        return "580.159.04"

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self._cards)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> object:  # noqa: N802
        card = self._cards[index]
        if isinstance(card, str):
            raise self.fault(*card.split(":", 1))
        return card

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> object:  # noqa: N802
        for card in self._cards:
            for handle in (card, *getattr(card, "parts", ())):
                if getattr(handle, "uuid", "") == uuid:
                    return handle
        raise self.fault("NotFound", "Not Found")

    def __getattr__(self, name: str) -> Callable[..., object]:
        keys = {
            "nvmlDeviceGetUUID": "uuid",
            "nvmlDeviceGetName": "name",
            "nvmlDeviceGetCudaComputeCapability": "capability",
            "nvmlDeviceGetPciInfo": "pci",
            "nvmlDeviceGetMemoryInfo": "memory",
            "nvmlDeviceGetMigMode": "mig",
            "nvmlDeviceGetComputeRunningProcesses": "compute",
            "nvmlDeviceGetGraphicsRunningProcesses": "graphics",
        }
        if name in keys:
            return lambda handle: self._value(handle, keys[name])
        if name == "nvmlDeviceGetMaxMigDeviceCount":
            return lambda handle: 7
        if name == "nvmlDeviceGetMigDeviceHandleByIndex":
            return self._part
        raise AttributeError(name)

    def _value(self, handle: object, key: str) -> object:
        if not hasattr(handle, key):
            raise self.fault("NotSupported", "Not Supported")
        return getattr(handle, key)

    def _part(self, handle: SimpleNamespace, place: int) -> object:
        if place >= len(handle.parts):
            raise self.fault("NotFound", "Not Found")
        return handle.parts[place]


def fake_card(number: int, **rest: object) -> SimpleNamespace:
    values = {
        "uuid": f"GPU-{number}",
        "name": "NVIDIA H200",
        "capability": (9, 0),
        "pci": SimpleNamespace(busId=f"00000000:{number:02X}:00.0".encode()),
        "memory": SimpleNamespace(total=150_000, free=140_000),
    }
    return SimpleNamespace(**{**values, **rest})
