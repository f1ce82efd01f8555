"""Reads the files that a repository has for other programs; what is malformed ends in one line with its place."""

import configparser
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from ci_toolkit.errors import UsageError, Where

MAX_BYTES = 4 << 20
Table = Mapping[str, Any]


def read_text(folder: Path, name: str) -> str | None:
    """The text of a file of the repository; None where there is no plain file of that name.

    Raises UsageError for one that can not be read, is not UTF-8, or is larger than any such file is.
    """
    path = folder / name
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"can not be read: {error.strerror}", Where(name)) from error
    if len(raw) > MAX_BYTES:
        raise UsageError(f"is larger than {MAX_BYTES >> 20} MiB", Where(name))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"is not UTF-8 at byte {error.start}", Where(name)) from error


def read_toml(folder: Path, name: str) -> Table:
    """A TOML file, empty where there is none."""
    try:
        return tomllib.loads(read_text(folder, name) or "")
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"is not valid TOML: {error}", Where(name)) from error
    except RecursionError as error:
        raise UsageError("is nested too deeply", Where(name)) from error


def read_ini(folder: Path, name: str) -> dict[str, dict[str, str]] | None:
    """The sections of an INI file; None where there is none."""
    text = read_text(folder, name)
    if text is None:
        return None
    # No section is the default of others, and a percent sign is one.
    parser = configparser.ConfigParser(interpolation=None, strict=False, default_section="\0")
    try:
        parser.read_string(text)
    except configparser.MissingSectionHeaderError as error:
        raise UsageError("is not valid INI: a line before the first [section]", Where(name, error.lineno)) from error
    except configparser.ParsingError as error:
        line = error.errors[0][0] if error.errors else None
        raise UsageError("is not valid INI: neither a [section] nor a key = value", Where(name, line)) from error
    except configparser.Error as error:
        raise UsageError(f"is not valid INI: {error.message.splitlines()[0]}", Where(name)) from error
    return {section: dict(parser.items(section)) for section in parser.sections()}


def parse_yaml(text: str, name: str) -> Any:
    """What YAML says, as plain data."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise UsageError(f"is not valid YAML: {problem}", Where(name, mark.line + 1 if mark else None)) from error
    except (ValueError, RecursionError) as error:  # a date that no calendar has; a nest of a thousand brackets
        raise UsageError(f"is not valid YAML: {error}", Where(name)) from error


def table(value: Any, *keys: str) -> Table:
    """The table under ``keys``, empty where there is something else or nothing."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def texts(value: Any) -> tuple[str, ...]:
    """The texts of a list, or a single one."""
    found = value if isinstance(value, list | tuple) else [value]
    return tuple(item for item in found if isinstance(item, str))
