"""What ran is what was asked for: the device, and the backend."""

import os

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from sparse_ops import COO, BackendUnavailableError, available_backends, gather, scatter, spmm, spmv


class _Devices(TorchDispatchMode):
    """Collects the device types of all tensors that operations take and make."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        self.seen |= {leaf.device.type for leaf in tree_leaves((args, out)) if isinstance(leaf, torch.Tensor)}
        return out


def _matrix(device):
    index = torch.arange(3, device=device)
    return COO(index, index, torch.ones(3, device=device), (3, 3))


OPERATORS = {
    "gather": lambda device, **how: gather(torch.ones(3, device=device), torch.arange(3, device=device), **how),
    "scatter": lambda device, **how: scatter(
        torch.ones(3, device=device), torch.arange(3, device=device), torch.ones(3, device=device), **how
    ),
    "spmv": lambda device, **how: spmv(_matrix(device), torch.ones(3, device=device), **how),
    "spmm": lambda device, **how: spmm(_matrix(device), torch.ones(3, 2, device=device), **how),
}
every_operator = pytest.mark.parametrize(
    "operator", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in OPERATORS]
)


@every_operator
def test_every_step_is_on_the_asked_device(operator, device, backend):
    asked = os.environ.get("SPARSE_DEVICE", "cpu").partition(":")[0]
    with _Devices() as devices:
        out = OPERATORS[operator](device, backend=backend)
    assert out.device.type == asked
    assert devices.seen == {asked}


@every_operator
def test_an_unknown_backend(operator, device):
    with pytest.raises(ValueError, match="unknown backend 'cusparse', expected 'torch' or 'triton'"):
        OPERATORS[operator](device, backend="cusparse")


@every_operator
def test_triton_never_runs_as_something_else_on_cpu_tensors(operator):
    with pytest.raises(BackendUnavailableError, match="backend 'triton' can not run: "):
        OPERATORS[operator](torch.device("cpu"), backend="triton")


def test_the_backend_under_test_is_available(device, backend):
    assert backend in available_backends(device)
