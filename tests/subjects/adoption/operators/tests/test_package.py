import flat_ops


def test_public_names():
    assert sorted(flat_ops.__all__) == ["add", "mul", "sum_dim"]
