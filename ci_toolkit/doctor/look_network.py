"""Looks at what is reached over the network. What may be secret in an address stays here."""

import os
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import requests

from ci_toolkit.devices.command import run_command
from ci_toolkit.doctor.addresses import host_and_port, indexes, place, without_user
from ci_toolkit.github.refusals import cause_of
from ci_toolkit.model.documents import Record

CONNECT_S = 8.0
PIP_S = 15.0


class Reached(Record, frozen=True, kw_only=True):
    """Whether an address answered: ``status`` is HTTP's, ``fault`` why there was no answer, ``proxy`` the way to it."""

    status: int | None = None
    fault: str = ""
    proxy: str = ""


def index() -> tuple[str, ...]:
    """The package indexes that pip is configured for."""
    env = {name: value for name, value in os.environ.items() if name not in ("PIP_QUIET", "PIP_VERBOSE")}
    done = run_command([sys.executable, "-m", "pip", "config", "list"], PIP_S, env)
    return indexes(done.stdout if done.exit_code == 0 else "")


def address(url: str) -> Reached:
    """Asks for ``url`` as pip and our client of GitHub would; nothing of the answer is read but its status."""
    if urlsplit(url).scheme == "file":
        there = Path(url2pathname(urlsplit(url).path)).exists()
        return Reached(fault="" if there else "there is no such folder")
    way = requests.utils.select_proxy(url, requests.utils.get_environ_proxies(url)) or ""
    proxy = without_user(way)
    try:
        with requests.get(url, timeout=CONNECT_S, stream=True) as answer:
            return Reached(status=answer.status_code, proxy=proxy)
    except requests.Timeout:
        return Reached(fault=f"no answer in {CONNECT_S:g} s", proxy=proxy)
    except (requests.RequestException, ValueError) as error:
        return Reached(fault=cause_of(error).replace(url, place(url)), proxy=proxy)


def proxy(url: str) -> Reached:
    """Opens a connection to a proxy."""
    try:
        with socket.create_connection(host_and_port(url), timeout=CONNECT_S):
            return Reached()
    except ValueError as error:
        return Reached(fault=f"its address can not be read: {error}")
    except OSError as error:
        return Reached(fault=str(error.strerror or error))
