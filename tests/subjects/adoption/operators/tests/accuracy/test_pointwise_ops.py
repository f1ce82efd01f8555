import flat_ops
import pytest

VALUES = [([], []), ([1.0], [-1.0]), ([1e30, 2.0, 3.0], [1e-30, 0.0, -3.0])]


@pytest.mark.add
@pytest.mark.parametrize(("a", "b"), VALUES)
def test_add(a, b):
    assert flat_ops.add(a, b) == [a[n] + b[n] for n in range(len(a))]


@pytest.mark.mul
@pytest.mark.parametrize(("a", "b"), VALUES)
def test_mul(a, b):
    assert flat_ops.mul(a, b) == [a[n] * b[n] for n in range(len(a))]
