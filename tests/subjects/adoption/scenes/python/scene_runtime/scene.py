def scene_test(level, runtime):
    """Marks a class as a scene of a level, on a runtime."""

    def decorate(cls):
        cls.level, cls.runtime = level, runtime
        return cls

    return decorate


class SceneTestCase:
    """A kernel with its cases: ``run`` is compared with ``golden`` for each."""

    CASES = []

    def test_run(self):
        assert self.CASES
        for case in self.CASES:
            assert self.run(**case) == self.golden(**case), case
