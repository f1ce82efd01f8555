"""Starts a module of this folder in any interpreter: ``PYTHON bootstrap.py MODULE ARGUMENT...``.

The folder becomes the package ``_ci_toolkit_child``. Nothing is put on ``sys.path``, and what the interpreter put there
for this script is taken away: a subject sees neither the toolkit nor names like ``events`` or ``text``.
"""

import sys

PACKAGE = "_ci_toolkit_child"


def load(name, folder):
    """The module ``name`` of ``folder``, as a part of the private package."""
    import importlib

    package = type(sys)(PACKAGE)
    package.__path__ = [folder]
    sys.modules[PACKAGE] = package
    return importlib.import_module(PACKAGE + "." + name)


def main():
    folder = __file__.replace("\\", "/").rpartition("/")[0]
    if sys.path and sys.path[0].replace("\\", "/") == folder:
        del sys.path[0]
    name, arguments = sys.argv[1], sys.argv[2:]
    del sys.argv[1:]
    return load(name, folder).main(arguments)


if __name__ == "__main__":
    sys.exit(main())
