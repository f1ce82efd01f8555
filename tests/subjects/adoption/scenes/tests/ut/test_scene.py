import pytest
from scene_runtime import SceneTestCase, scene_test


def test_the_class_carries_what_it_was_given():
    marked = scene_test(level=2, runtime="sim")(type("Marked", (SceneTestCase,), {}))
    assert (marked.level, marked.runtime) == (2, "sim")


def test_a_scene_without_cases_fails():
    with pytest.raises(AssertionError):
        SceneTestCase().test_run()
