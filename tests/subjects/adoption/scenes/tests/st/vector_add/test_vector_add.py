from scene_runtime import SceneTestCase, scene_test


@scene_test(level=2, runtime="sim")
class TestVectorAdd(SceneTestCase):
    CASES = [{"a": [1, 2], "b": [3, 4]}, {"a": [], "b": []}]

    def run(self, a, b):
        return [x + y for x, y in zip(a, b, strict=True)]

    def golden(self, a, b):
        return [a[n] + b[n] for n in range(len(a))]
