# Outside testpaths: nobody runs this in CI.
def test_speed():
    raise AssertionError("a benchmark is no test")
