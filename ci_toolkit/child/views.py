"""What the upstream's names mean, to whom: ``sys.modules`` shows one table of them, the other one waits.

The table ``ALIAS`` holds the candidate's modules, ``REAL`` the upstream's own. The upstream's test code is in both.
Who imports decides which is shown while the import lasts; no other name is ever touched.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from .names import Names
from .pin import Pin

ALIAS = "alias"
REAL = "real"


class Views:
    """The two tables. ``shown`` is the one in ``sys.modules``, at first the one that everybody sees by default.

    The lock is held while an import of the upstream's names lasts: another thread must not see another's table.
    """

    def __init__(self, names: Names, pin: Pin, default: str) -> None:
        self._names = names
        self._pin = pin
        self._away: dict[str, Any] = {}
        self.shown = default
        self.lock = threading.RLock()

    def show(self, view: str) -> None:
        """Puts the table ``view`` into ``sys.modules``. The caller holds the lock, and shows the former one again."""
        if view == self.shown:
            return
        taken = {name: module for name, module in _loaded(self._names) if not self._pin.has_module(module)}
        for name in taken:
            del sys.modules[name]
        sys.modules.update(self._away)
        self._away = taken
        self.shown = view

    def table(self, view: str) -> dict[str, Any]:
        """The modules that the upstream's names mean in ``view``, the upstream's test code left out."""
        if view != self.shown:
            return dict(self._away)
        return {name: module for name, module in _loaded(self._names) if not self._pin.has_module(module)}

    def find(self, view: str, name: str) -> Any:
        """The module that ``name`` means in ``view``; None where it is not loaded."""
        shown = sys.modules.get(name)
        if view == self.shown or self._pin.has_module(shown):
            return shown
        return self._away.get(name)

    def is_alias(self, name: str) -> bool:
        """Whether ``name`` means a module of the candidate, and not the upstream's test code."""
        module = self.find(ALIAS, name)
        return module is not None and not self._pin.has_module(module)

    def put(self, view: str, name: str, module: Any) -> None:
        """Makes ``name`` mean ``module`` in ``view``; None takes it away."""
        table: dict[str, Any] = sys.modules if view == self.shown else self._away
        if module is None:
            table.pop(name, None)
        else:
            table[name] = module


def _loaded(names: Names) -> list[tuple[str, Any]]:
    return [(name, module) for name, module in list(sys.modules.items()) if names.is_upstream(name)]
