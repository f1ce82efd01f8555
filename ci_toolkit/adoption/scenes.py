"""Tells scene tests from other tests. Pure."""

import re
from pathlib import PurePosixPath

FOLDER = "st"
_DECORATOR = re.compile(r"^\s*@(?:\w+\.)*scene_test\b", re.MULTILINE)


def is_scene(file: str, text: str) -> bool:
    """Whether a test file lies under a folder ``st``, or declares a scene."""
    return FOLDER in PurePosixPath(file).parts[:-1] or bool(_DECORATOR.search(text))
