"""Removes a folder that a test left behind, whatever permissions it set."""

import os
import stat


def remove(path):
    """Removes ``path`` and all below it without following links; returns the first reason why something stays."""
    reasons = []
    for folder, folders, files in os.walk(path, topdown=True, onerror=None, followlinks=False):
        for name in folders:
            _unlock(os.path.join(folder, name))
        for name in files:
            _attempt(os.unlink, os.path.join(folder, name), reasons)
    for folder, folders, _ in os.walk(path, topdown=False, followlinks=False):
        for name in folders:
            child = os.path.join(folder, name)
            _attempt(os.unlink if os.path.islink(child) else os.rmdir, child, reasons)
    _attempt(os.rmdir, path, reasons)
    return reasons[0] if reasons else ""


def _unlock(path):
    if not os.path.islink(path):
        os.chmod(path, stat.S_IRWXU)


def _attempt(action, path, reasons):
    try:
        action(path)
    except FileNotFoundError:
        return
    except OSError as error:
        reasons.append("%s: %s" % (path, error.strerror))
