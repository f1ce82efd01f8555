"""Names of the artifacts that jobs of one workflow run hand on: unique by plan, job and run attempt."""

import re

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


def is_plan_name(text: str) -> bool:
    """Whether ``text`` may tell the plans of one run apart; it has no dot, so that no name is another's prefix."""
    return bool(_NAME.fullmatch(text))


def plan_upload(name: str, attempt: int) -> str:
    """The artifact that holds the plan called ``name``."""
    return f"plan.{name}.a{attempt}"


def build_upload(name: str, build: str, attempt: int) -> str:
    """The artifact that holds what a build of that plan left."""
    return f"build.{name}.{build}.a{attempt}"


def built_upload(name: str, build: str, attempt: int) -> str:
    """The artifact that holds no more of a build than its ``build.json``, for the gate."""
    return f"built.{name}.{build}.a{attempt}"


def evidence_upload(name: str, job: str, attempt: int) -> str:
    """The artifact that holds what one job of that plan left."""
    return f"evidence.{name}.{job}.a{attempt}"
