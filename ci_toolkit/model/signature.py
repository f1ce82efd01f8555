"""Signatures: what makes two failures the same one, in another folder, process, on another device or day.

``SCHEME`` is the version of the rules below. A change of any rule that changes a signature raises it, because reviewed
ratchets hold signatures.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping

import msgspec

from ci_toolkit.model.case import Failure, Frame
from ci_toolkit.model.text import one_line, strip_terminal

SCHEME = 1
MESSAGE_LENGTH = 400
"""Characters of a normalised message that stand in a signature; a digest stands for the rest."""

_WINDOW = 2048
_ROUNDS = 20
_CUT = re.compile(r"\[\.\.\. \d+ (?:characters|bytes) left out \.\.\.\]")
_PATH = r"[^\s'\"`:;,()<>\[\]{}|]"
_PART = _PATH.replace("[^", "[^/")
_NO_WORD = r"(?<![A-Za-z0-9_])"
_NUMBER = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (
            rf"(?:<tmp>|(?<!{_PATH}))/(?:{_PATH}*/)?pytest-of-{_PART}+/pytest-(?:\d+|current)",
            "<tmp>",
        ),
        (rf"(?:/private)?/var/folders/{_PATH}+?/T(?:/{_PART}+)?(?=/|(?!{_PATH}))", "<tmp>"),
        (rf"(?:(?:/private|/var|/usr)?/tmp|/dev/shm)/{_PART}+", "<tmp>"),
        (rf"{_NO_WORD}tmp[a-z0-9_]{{8}}(?![A-Za-z0-9_])", "<name>"),
        (rf"{_NO_WORD}[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}(?![A-Za-z0-9_])", "<uuid>"),
        (rf"{_NO_WORD}0[xX][0-9a-fA-F]{{6,}}(?![A-Za-z0-9_])", "<address>"),
        (rf"{_NO_WORD}(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{{32,}}(?![A-Za-z0-9_])", "<digest>"),
        (
            r"(?<!\d)\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?(?!\d)",
            "<time>",
        ),
        (r"(\.(?:py|pyx|pyi|c|cc|cpp|cu|cuh|cxx|h|hpp|hip|mlir|rs)):\d+(?::\d+)?(?!\d)", r"\1:<line>"),
        (r"(\.py\"?, line )\d+", r"\1<line>"),
        (
            rf"(?<![A-Za-z0-9_.%<]){_NUMBER} ?"
            r"(?:ns|us|µs|ms|s|secs?|seconds?|milliseconds?|microseconds?|minutes?)(?![A-Za-z0-9_%])",
            "<duration>",
        ),
        (rf"{_NO_WORD}((?:[Pp][Ii][Dd]|[Tt][Ii][Dd]|[Pp]rocess|[Tt]hread)(?: ?[=:#] ?| |-))\d+", r"\1<n>"),
        (
            rf"{_NO_WORD}((?:cuda|hip|rocm|npu|xpu|musa|mlu|mps|gpu|gcu|hpu|tpu|sdaa|privateuseone):)\d+",
            r"\1<n>",
        ),
        (rf"{_NO_WORD}((?:[Dd]evice|GPU|NPU|XPU|ordinal)(?: ?[=:#] ?| ))\d+(?![\d.])", r"\1<n>"),
        (r"((?:localhost|127\.0\.0\.1|0\.0\.0\.0):)\d+", r"\1<port>"),
    )
)


def normalise(text: str, roots: Mapping[str, str] = {}) -> str:
    """``text`` without what differs from run to run. ``normalise(normalise(x)) == normalise(x)``.

    ``roots`` maps folders, in every spelling that may occur (the path as given and the target of its links), to the
    word that stands for them, such as ``<root>``.
    """
    folders = [
        (re.compile(re.escape(folder.rstrip("/")) + rf"(?=/|(?!{_PATH}))"), word)
        for folder, word in sorted(roots.items(), key=lambda item: (-len(item[0]), item[0]))
        if folder.strip("/")
    ]
    text = strip_terminal(text)
    for _ in range(_ROUNDS):
        before = text
        for pattern, replacement in folders:
            text = pattern.sub(lambda _, word=replacement: word, text)  # type: ignore[misc]
        for pattern, replacement in _RULES:
            text = pattern.sub(replacement, text)
        if text == before:
            break
    return text


def signature_class(exception: str, stage: str, frames: Iterable[Frame]) -> str:
    """``EXCEPTION STAGE path/without/suffix:function`` of the innermost own frame, else of the innermost frame."""
    frames = tuple(frames)
    words = [exception or "-", stage]
    if frames:
        frame = next((frame for frame in reversed(frames) if frame.own), frames[-1])
        words.append(f"{normalise(frame.file).removesuffix('.py')}:{frame.function}")
    return one_line(" ".join(words))


def signature(failure: Failure, roots: Mapping[str, str] = {}) -> str:
    """The class and the normalised message of a failure, on one line.

    A long message is cut, and a digest stands for the rest. Of a very long one, and of one that the worker had cut
    already, only the start counts: what else is there depends on the length of paths.
    """
    head = _class(failure)
    whole, *rest = _CUT.split(strip_terminal(failure.message), maxsplit=1)
    message = normalise(whole[:_WINDOW], roots)
    shown = one_line(message[:MESSAGE_LENGTH])
    if rest or len(whole) > _WINDOW:
        shown += " [...]"
    elif len(message) > MESSAGE_LENGTH:
        digest = hashlib.sha256(message.encode("utf-8", "backslashreplace")).hexdigest()[:12]
        shown += f" [... {digest}]"
    return f"{head}: {shown}" if shown else head


def signed(failure: Failure, roots: Mapping[str, str] = {}) -> Failure:
    """``failure`` with its signature and the class of it filled in."""
    return msgspec.structs.replace(failure, signature=signature(failure, roots), signature_class=_class(failure))


def _class(failure: Failure) -> str:
    ended = "" if failure.exit_code is None else f"exit {failure.exit_code}"
    return signature_class(failure.exception or failure.signal or ended, failure.stage, failure.frames)
