import flat_ops
import pytest


@pytest.mark.sum_dim
@pytest.mark.parametrize("dim", [0, 1])
def test_sum_dim(dim):
    assert flat_ops.sum_dim([[1, 2], [3, 4]], dim) == [[4, 6], [3, 7]][dim]
