"""Starts a module of this folder in any interpreter: ``PYTHON bootstrap.py MODULE ARGUMENT...``.

The folder becomes the package ``_ci_toolkit_child``. Nothing is put on ``sys.path``, and what the interpreter put there
for this script is taken away: a subject sees neither the toolkit nor names like ``events`` or ``text``.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PACKAGE = "_ci_toolkit_child"


def load(name: str, folder: str) -> Any:
    """The module ``name`` of ``folder``, as a part of the private package."""
    import importlib

    package = type(sys)(PACKAGE)
    package.__path__ = [folder]
    sys.modules[PACKAGE] = package
    return importlib.import_module(PACKAGE + "." + name)


def main() -> int:
    folder = __file__.replace("\\", "/").rpartition("/")[0]
    if sys.path and sys.path[0].replace("\\", "/") == folder:
        del sys.path[0]
    name, arguments = sys.argv[1], sys.argv[2:]
    del sys.argv[1:]
    status: int = load(name, folder).main(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
