"""The two names of a conformance run, and how one leads to the other. Pure."""

from __future__ import annotations

from typing import NamedTuple


class Names(NamedTuple):
    """``upstream`` is the name that the tests import (top-level), ``candidate`` the package that stands in for it."""

    upstream: str
    candidate: str

    @property
    def package(self) -> str:
        """The top-level package that the candidate lies in."""
        return self.candidate.partition(".")[0]

    def is_upstream(self, name: str) -> bool:
        """Whether ``name`` is the upstream or one of its submodules."""
        return within(name, self.upstream)

    def is_candidate(self, name: str) -> bool:
        """Whether ``name`` belongs to the candidate's top-level package."""
        return bool(self.candidate) and within(name, self.package)

    def target(self, name: str) -> str:
        """The candidate's name for a name of the upstream."""
        return self.candidate + name[len(self.upstream) :]

    def alias(self, name: str) -> str:
        """The upstream's name for a name of the candidate; empty where it has none."""
        if not self.candidate or not within(name, self.candidate):
            return ""
        return self.upstream + name[len(self.candidate) :]


def within(name: str, package: str) -> bool:
    """Whether ``name`` is the package or lies in it."""
    return name.startswith(package) and (len(name) == len(package) or name[len(package)] == ".")
