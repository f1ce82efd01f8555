"""``doctor``: what it finds of a real machine, what it names, and what it ends with."""

import json
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ci_toolkit.devices.leases import Holder, Lease, open_folder, try_lease

OFFLINE = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null"}


def profile(ran: subprocess.CompletedProcess[str]) -> dict:
    return json.loads(ran.stdout)


def check(ran: subprocess.CompletedProcess[str], name: str) -> dict:
    (found,) = [one for one in profile(ran)["checks"] if one["name"] == name]
    return found


def test_a_runner_that_is_fit(project) -> None:
    project.write("tests/test_a.py", "def test(): pass\n")
    ran = project.toolkit("doctor", "--json", RUNNER_NAME="box-7", **OFFLINE)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    shown = profile(ran)
    assert (shown["schema"], shown["runner"]) == ("runner/1", "box-7")
    assert shown["interpreters"]["cpu"]["pytest"]
    assert check(ran, "cpu: devices")["found"].startswith("proven: cpu 0")
    assert not [one for one in shown["checks"] if one.get("result") == "failed"]
    told = project.toolkit("doctor", RUNNER_NAME="box-7", **OFFLINE)
    assert told.returncode == 0
    assert told.stdout.splitlines()[-1].startswith("FIT: ")


def test_a_bare_runner_is_examined_without_conf_but_not_with_a_wrong_one(project) -> None:
    (project.folder / "conf").rename(project.folder / "moved")
    assert project.toolkit("doctor", **OFFLINE).returncode == 0
    ran = project.toolkit("doctor", "--conf", "conf", **OFFLINE)
    assert (ran.returncode, ran.stdout) == (2, "")
    project.write("moved/platforms.yml", "schema: platforms/1\nplatforms: {cpu: {device: cpuu}}\n")
    ran = project.toolkit("doctor", "--conf", "moved", **OFFLINE)
    assert ran.returncode == 2
    assert "there is no device 'cpuu'; did you mean cpu?" in ran.stderr


def test_an_interpreter_that_is_missing(project) -> None:
    project.write("conf/platforms.yml", "schema: platforms/1\nplatforms: {cpu: {device: cpu, python: venv/bin/py}}\n")
    ran = project.toolkit("doctor", GITHUB_ACTIONS="true", RUNNER_NAME="box-7", **OFFLINE)
    assert ran.returncode == 4, ran.stdout + ran.stderr
    assert "the interpreter venv/bin/py can not be started: No such file or directory" in ran.stdout
    assert ran.stdout.splitlines()[-1].startswith("NOT FIT: cpu: interpreter")
    assert "::error title=box-7%3A cpu%3A interpreter::the interpreter venv/bin/py" in ran.stdout


def test_a_platform_of_another_runner_counts_only_when_it_is_named(project) -> None:
    project.write("conf/platforms.yml", "schema: platforms/1\nplatforms: {cpu: {device: cpu}, m: {device: musa}}\n")
    project.write("conf/suites.yml", "schema: suites/1\nsuites: {small: {platforms: [cpu, m], root: {path: tests}}}\n")
    said = "this version has no module for device musa"
    ran = project.toolkit("doctor", "--json", **OFFLINE)
    assert (ran.returncode, profile(ran)["elsewhere"]) == (0, {"m": said})
    ran = project.toolkit("doctor", "--json", "--only", "m*", **OFFLINE)
    assert (ran.returncode, profile(ran)["interpreters"]) == (4, {})
    assert check(ran, "m: devices")["found"] == said
    ran = project.toolkit("doctor", "--only", "cqu", **OFFLINE)
    assert ran.returncode == 5
    assert "no platform with a lane fits 'cqu'; did you mean 'cpu'?" in ran.stderr


@pytest.fixture
def toys(project) -> dict[str, str]:
    toy = f"{{device: toy, count: 2, lease: {{folder: {project.folder}/leases}}}}"
    project.write("conf/platforms.yml", f"schema: platforms/1\nplatforms: {{toy: {toy}}}\n")
    project.write("conf/suites.yml", "schema: suites/1\nsuites: {small: {platforms: [toy], root: {path: tests}}}\n")
    return {**project.register_cards(2), **OFFLINE}


def test_cards_are_proven_under_a_lease_and_those_of_others_are_left_alone(project, toys) -> None:
    ran = project.toolkit("doctor", "--json", **toys)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert check(ran, "toy: devices")["found"] == "proven: TOY-0 Toy, TOY-1 Toy"
    held = try_lease(open_folder(project.folder / "leases"), "TOY-1", Holder(pid=7, user="ann", host="box"))
    assert isinstance(held, Lease)
    with closing(held):
        ran = project.toolkit("doctor", "--json", **toys)
    assert ran.returncode == 0
    found = check(ran, "toy: devices")
    assert (found["result"], found["found"]) == (
        "warning",
        "proven: TOY-0 Toy; TOY-1 is held by process 7 of ann on box",
    )


def test_a_card_that_proves_another_one_is_named_with_what_was_asked(project, toys) -> None:
    card = (
        (project.folder / "plugins/toy_card.py")
        .read_text()
        .replace('return ""', 'return "TOY-9, not " + devices[0].uuid')
    )
    project.write("plugins/toy_card.py", card)
    ran = project.toolkit("doctor", "--json", **toys)
    assert (ran.returncode, check(ran, "toy: devices")["found"]) == (4, "TOY-9, not TOY-0")
    probed = project.toolkit("devices", "probe", "toy", **toys)
    assert (probed.returncode, "TOY-9, not TOY-0" in probed.stderr) == (4, True)


def test_a_folder_of_leases_that_can_not_be(project, toys) -> None:
    project.write("leases", "a file")
    ran = project.toolkit("doctor", "--json", **toys)
    assert ran.returncode == 4
    assert "the folder of leases can not be made" in check(ran, "folder of leases")["found"] or (
        "no folder" in check(ran, "folder of leases")["found"]
    )


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(404 if self.path.endswith("/pip/") else 503)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        return


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def test_what_answers_and_what_does_not_is_named_without_secrets(project, server: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        index = {"PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": f"{server}/tok3n/simple"}
        extra = {"PIP_EXTRA_INDEX_URL": f"http://me:w0rd@127.0.0.1:{port}/tok3n/simple"}
        ran = project.toolkit("doctor", "--json", GITHUB_API_URL=server, **index, **extra)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = [one["found"] for one in profile(ran)["checks"] if one["name"] == "package index"]
    assert found == [f"{server} answers", f"http://127.0.0.1:{port}: [Errno 111] Connection refused"]
    api = check(ran, "GitHub's API")
    assert (api["result"], api["found"]) == ("warning", f"{server} answered 503")
    assert "tok3n" not in ran.stdout + ran.stderr
    assert "w0rd" not in ran.stdout + ran.stderr


def test_a_proxy_that_swallows_what_it_is_sent_is_named(project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as swallows:
        proxy = f"http://me:w0rd@127.0.0.1:{swallows.getsockname()[1]}"
        shown = proxy.replace("me:w0rd", "***")
        index = {"PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": "http://index.invalid/simple"}
        ran = project.toolkit("doctor", "--json", http_proxy=proxy, HTTP_PROXY="http://other.invalid", **index)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert check(ran, "package index")["found"] == f"http://index.invalid by the proxy {shown}: no answer in 8 s"
    assert check(ran, "proxy http_proxy")["found"] == "http_proxy and HTTP_PROXY differ"
    assert profile(ran)["proxies"] == {"HTTP_PROXY": "http://other.invalid", "http_proxy": shown}
    assert "w0rd" not in ran.stdout + ran.stderr


def test_an_interrupt_ends_what_hangs(project) -> None:
    up = project.folder / "up"
    env = project.register_cards(1)
    hangs = f"open({str(up)!r}, 'w').close(); signal.pause()"
    project.write("plugins/toy_card.py", f"import signal\ndef mask(devices): ...\ndef discover(): {hangs}\n")
    process = project.start("doctor", **env, **OFFLINE)
    while not up.exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "interrupted (SIGINT)" in err
    assert project.processes() == []
