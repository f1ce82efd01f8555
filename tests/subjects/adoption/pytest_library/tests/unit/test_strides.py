import pytest
from tensor_views import contiguous


def test_the_last_axis_is_the_fastest(shape):
    assert contiguous(shape)[-1:] in ((), (1,))


@pytest.mark.wide(64)
def test_a_tensor_larger_than_memory():
    assert contiguous((1 << 20, 1 << 20, 1 << 20))[0] == 1 << 40
