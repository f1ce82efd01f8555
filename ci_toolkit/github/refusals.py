"""What GitHub, or the way to it, says when something does not work, and what a person does about it."""

from typing import Any

import msgspec
import requests

from ci_toolkit.model.text import one_line


class _Body(msgspec.Struct):
    message: str = ""
    errors: Any = None


def message_of(answer: requests.Response) -> str:
    """What GitHub says of a refusal, with its details; empty where it says nothing."""
    try:
        said = msgspec.json.decode(answer.content, type=_Body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    details = said.errors if isinstance(said.errors, list) else []
    told = [str(one.get("message") or one.get("code") or "") if isinstance(one, dict) else str(one) for one in details]
    return ": ".join([said.message.strip(), *filter(None, told)])


def remedy(answer: requests.Response, needs: str) -> str:
    """What to do about a refusal. ``needs`` is the permission to name where GitHub names none."""
    if answer.is_redirect:
        return "the repository was moved or renamed: use its new name"
    if answer.status_code == 401:
        return "the token is not valid (any more): look at GITHUB_TOKEN"
    if answer.status_code not in (403, 404):
        return ""
    told = answer.headers.get("x-accepted-github-permissions", "")
    needed = one_line(told.replace("=", ": ").replace("_", "-").replace(";", " or")) or needs or "a permission"
    return f"the token lacks {needed}" if answer.status_code == 403 else f"it is not there, or the token lacks {needed}"


def cause_of(error: BaseException) -> str:
    """The innermost reason of an exception of requests, whose own text repeats addresses."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    return one_line(str(error)) or type(error).__name__
