"""The kind ``conformance``: an upstream's own tests, as they are, against a candidate that stands in for it."""

from ci_toolkit.suites.conformance.decode import decode
from ci_toolkit.suites.conformance.units import find

__all__ = ["decode", "find"]
