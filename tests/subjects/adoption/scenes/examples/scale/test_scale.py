import scene_runtime


@scene_runtime.scene_test(level=3, runtime="sim")
class TestScale(scene_runtime.SceneTestCase):
    CASES = [{"a": [1, 2, 3], "by": 2}]

    def run(self, a, by):
        return [x * by for x in a]

    def golden(self, a, by):
        return [x + x for x in a]
