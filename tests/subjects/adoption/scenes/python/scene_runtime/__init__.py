"""Declared kernels, run and compared with their golden results."""

from scene_runtime.scene import SceneTestCase, scene_test

__all__ = ["SceneTestCase", "scene_test"]
