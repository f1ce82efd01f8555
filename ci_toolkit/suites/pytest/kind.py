"""The kind ``pytest``: a folder, files or node ids of the user's repository, run unchanged by the subject's pytest."""

from ci_toolkit.suites.pytest.decode import decode
from ci_toolkit.suites.pytest.units import find

__all__ = ["decode", "find"]
