"""From a worker's request and a case to the command that runs the case again by hand. Pure."""

import re
import shlex
from collections.abc import Mapping
from typing import cast

from ci_toolkit.model.case import Case
from ci_toolkit.model.ids import split_case
from ci_toolkit.model.request import Request
from ci_toolkit.model.text import one_line
from ci_toolkit.model.verdict import Reproduce

SHOWN = re.compile(
    r"(?!(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_.*|TZ|SSL_CERT_.*|PYTHONUNBUFFERED"
    r"|TMPDIR|TMP|TEMP|XDG_CACHE_HOME)$)\w+"
)
"""Settings worth repeating: what every shell has, and what was this worker's own folder, is left out."""


def command_for(request: Request, case: Case) -> Reproduce:
    """The command that runs ``case`` alone, in the interpreter and with the settings of the worker that ran it.

    A candidate stands in for an upstream in the lane's own workers only: its command runs the case's file in one.
    """
    options: Mapping[str, object] = request.options
    if options.get("engine") == "candidate":
        return Reproduce(
            argv=("ci-toolkit", "run", request.lane, "--unit", one_line(split_case(case.id)[0]), "--out", "out/again"),
            cwd="",
            env={},
            note="in the repository; the candidate stands in for the upstream in the lane's own workers only",
        )
    root = cast(str, options.get("root", request.cwd))
    nodeid = case.nodeid or case.id
    # A name that pytest could take for an option, or a file of arguments, is given as a path.
    target = f"./{nodeid}" if nodeid.startswith(("-", "@")) else nodeid
    arguments = [str(one) for one in cast("list[object]", options.get("args", []))]
    file = split_case(case.id)[0]
    return Reproduce(
        argv=(
            request.interpreter,
            *request.flags,
            *("-m", "pytest", "-p", "no:cacheprovider", f"--rootdir={root}"),
            *arguments,
            target,
        ),
        cwd=root,
        env={name: value for name, value in sorted(request.env.items()) if SHOWN.fullmatch(name)},
        note=f"as the lane runs it: ci-toolkit run {request.lane} --unit {shlex.quote(one_line(file))}",
    )


def shell_line(command: Reproduce) -> str:
    """A command as one line for a POSIX shell, with every word quoted as it needs."""
    words = [f"{name}={_quoted(value)}" for name, value in command.env.items()]
    words += [_quoted(word) for word in command.argv]
    line = " ".join(words)
    return f"cd {_quoted(command.cwd)} && {line}" if command.cwd else line


def _quoted(word: str) -> str:
    """A word for a shell; what is not printable in it is written as its bytes, so that the line can be copied."""
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(map(_in_dollar_quotes, word)) + "'"


def _in_dollar_quotes(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable():
        return character
    try:
        raw = character.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, which no command line can hold
        return f"\\\\u{ord(character):04x}"
    return "".join(f"\\x{byte:02x}" for byte in raw)
