"""``devices probe``: what was proven, or why not, in words and as JSON."""

import json
import platform

import pytest
from click.testing import CliRunner

from ci_toolkit.cli.devices_probe import command
from ci_toolkit.errors import InfrastructureError, UsageError


def asked(*arguments: str):
    return CliRunner().invoke(command, arguments, standalone_mode=False)


def test_the_processor_is_proven() -> None:
    ran = asked("cpu")
    assert ran.return_value == 0, ran.output
    first, second = ran.stdout.splitlines()
    assert first.startswith("proven  cpu 0: ")
    assert platform.machine() in first
    assert second == f"with    Python {platform.python_version()}"


def test_json_holds_the_whole_probe() -> None:
    ran = asked("cpu", "--json")
    shown = json.loads(ran.stdout)
    assert (shown["module"], shown["reason"], shown["python"]) == ("cpu", "", platform.python_version())
    assert shown["devices"][0]["arch"] == platform.machine()


def test_what_is_not_proven_is_infrastructure_in_both_forms() -> None:
    ran = asked("cpu", "--python", "/no/such/python", "--json")
    reason = "the interpreter /no/such/python can not be started: No such file or directory"
    assert (ran.return_value, json.loads(ran.stdout)["reason"]) == (4, reason)
    ran = asked("cpu", "--python", "/no/such/python")
    assert isinstance(ran.exception, InfrastructureError)
    assert str(ran.exception) == f"the probe of cpu failed: {reason}"


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        (("cpu", "--count", "2"), InfrastructureError, "asks for 2 devices cpu, this machine has 1"),
        (("musa",), InfrastructureError, "this version has no module for device musa"),
        (("cpuu",), UsageError, "there is no device 'cpuu'; did you mean cpu?"),
    ],
)
def test_what_this_machine_does_not_have(arguments, kind, said: str) -> None:
    ran = asked(*arguments)
    assert isinstance(ran.exception, kind)
    assert str(ran.exception) == said
