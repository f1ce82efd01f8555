"""What ``conf/selection.yml`` may say: which lanes an event runs, and what changed files mean for that."""

from ci_toolkit.model.documents import Authored


class PathConf(Authored, frozen=True, kw_only=True):
    """Files -> what tests them.

    ``path`` is a template: ``{name}`` stands for a part of one file or folder name, ``*`` too, ``**`` for any folders.
    ``suites`` are globs of suite names; ``units`` are test files of these suites, relative to their root, in which each
    ``{name}`` is what it stood for. Without units the whole suite is selected.
    """

    path: str
    suites: tuple[str, ...]
    units: tuple[str, ...] = ()


class TierConf(Authored, frozen=True, kw_only=True):
    """How much is run: lanes (globs), and whole suites (``full``) or their samples."""

    lanes: tuple[str, ...] = ("*",)
    full: bool = False


class EventConf(Authored, frozen=True, kw_only=True):
    """What an event runs: its tier, whether changed files narrow it, and what a plan without a lane means.

    ``empty`` is ``pass`` or ``fail``; for a change of code it is always red.
    """

    tier: str
    changes: bool = False
    empty: str = "fail"


class LabelConf(Authored, frozen=True, kw_only=True):
    """What a pull request's label asks for: another tier, and lanes that are run besides, whatever has changed."""

    tier: str = ""
    lanes: tuple[str, ...] = ()


class SelectionFile(Authored, frozen=True, kw_only=True):
    """``conf/selection.yml``. ``fallback`` are lanes (globs) that a source file selects which no path names."""

    schema: str
    non_code: tuple[str, ...] = ()
    ci: tuple[str, ...] = ()
    paths: tuple[PathConf, ...] = ()
    fallback: tuple[str, ...] = ("*",)
    tiers: dict[str, TierConf] = {}
    events: dict[str, EventConf] = {}
    labels: dict[str, LabelConf] = {}
