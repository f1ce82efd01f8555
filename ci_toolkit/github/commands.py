"""GitHub's workflow commands: written so that they can not be forged, and kept out of what we only repeat."""

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ci_toolkit.errors import UsageError
from ci_toolkit.model.text import clip, encodable, visible

SUMMARY_BYTES = 900 << 10
"""What we put into a step's summary at most, with what the step wrote already. GitHub drops all above 1 MiB."""
MESSAGE_BYTES = 12 << 10
PROPERTY_BYTES = 4 << 10
"""What a command's message and each of its properties hold at most. GitHub refuses an annotation above 64 kB, and
escaping makes a text up to three times as long."""

_COMMAND = re.compile(r"^([^\S\n]*)::", re.MULTILINE)
_OLD_COMMAND = re.compile(r"##\[")


def on_github(environ: Mapping[str, str]) -> bool:
    """Whether a GitHub runner reads what we print."""
    return environ.get("GITHUB_ACTIONS") == "true"


def defuse(text: str) -> str:
    """``text`` in which a runner finds no command: ``::`` at the start of a line and ``##[`` anywhere are broken up.

    ``std::vector`` and the like stay as they are. A carriage return starts a line too.
    """
    lines = visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    return _OLD_COMMAND.sub("## [", _COMMAND.sub(r"\1: :", lines))


def command(name: str, message: str, **properties: str | int | None) -> str:
    """One workflow command. Properties that are None or empty are left out."""
    given = [f"{key}={_property(str(value))}" for key, value in properties.items() if value not in (None, "")]
    return f"::{name}{' ' + ','.join(given) if given else ''}::{_data(message, MESSAGE_BYTES)}"


def _data(text: str, limit: int) -> str:
    return clip(defuse(text), limit).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text, PROPERTY_BYTES).replace(":", "%3A").replace(",", "%2C")


@contextmanager
def commands_stopped(stream: TextIO, environ: Mapping[str, str]) -> Iterator[None]:
    """While the block prints, a runner carries out no command; a token that nobody can guess ends it again."""
    if not on_github(environ):
        yield
        return
    token = secrets.token_hex(24)
    stream.write(f"::stop-commands::{token}\n")
    try:
        yield
    finally:
        stream.write(f"\n::{token}::\n")
        stream.flush()


def write_output(environ: Mapping[str, str], values: Mapping[str, str]) -> None:
    """Sets outputs of the step, where GITHUB_OUTPUT names a file."""
    path = environ.get("GITHUB_OUTPUT")
    if not path:
        return
    blocks = []
    for name, value in values.items():
        mark = f"end-{secrets.token_hex(16)}"
        blocks.append(f"{name}<<{mark}\n{value}\n{mark}\n")
    _append(path, "".join(blocks), "GITHUB_OUTPUT")


def summary_room(environ: Mapping[str, str]) -> int:
    """How many bytes of UTF-8 the step's summary can still take; 0 where there is none."""
    path = environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return 0
    try:
        return max(SUMMARY_BYTES - Path(path).stat().st_size, 0)
    except OSError:  # not there yet, or not to be had: then writing tells
        return SUMMARY_BYTES


def append_summary(environ: Mapping[str, str], text: str) -> None:
    """Adds to the step's summary, where GITHUB_STEP_SUMMARY names a file."""
    path = environ.get("GITHUB_STEP_SUMMARY")
    if path and text:
        _append(path, text, "GITHUB_STEP_SUMMARY")


def _append(path: str, text: str, variable: str) -> None:
    try:
        with open(path, "ab", buffering=0) as file:  # noqa: PTH123 - one write, so that no other step's lines mix in
            file.write(encodable(text).encode())
    except OSError as error:
        raise UsageError(f"{variable} names {path}, which can not be written: {error.strerror}") from error


def relative_file(file: str, environ: Mapping[str, str]) -> str:
    """``file`` as annotations name it, relative to the checkout; empty when it lies outside or is not there."""
    root = Path(environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
    if not file:
        return ""
    path = Path(os.path.normpath(root / file))
    try:
        there = path.is_relative_to(root) and path.is_file()
    except OSError:  # a name that no file can have
        return ""
    return path.relative_to(root).as_posix() if there else ""
