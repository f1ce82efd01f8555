"""Makes a build of the subject: runs its command, and seals what that leaves."""

import codecs
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from ci_toolkit.catalogue.builds import BuildSpec
from ci_toolkit.devices.command import has_ended
from ci_toolkit.errors import UsageError, Where
from ci_toolkit.formats.digests import digest_of
from ci_toolkit.formats.documents import write_document
from ci_toolkit.formats.manifest import create_manifest
from ci_toolkit.model.build import BUILD, FILES, Built
from ci_toolkit.model.provenance import Provenance
from ci_toolkit.model.text import clip, one_line
from ci_toolkit.workers.stop import Stop

TAIL_LINES = 20
TAIL_BYTES = 2000
POLL_S = 0.05
CHUNK = 64 << 10
OUT = "CI_TOOLKIT_BUILD_OUT"
NAME = "CI_TOOLKIT_BUILD"
WITHHELD = (
    *("GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"),
    *("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"),
)
"""What a build is not given: with it, it could speak for the steps that judge it."""


def make_build(
    spec: BuildSpec, base: Path, out: Path, provenance: Provenance, environ: Mapping[str, str], stop: Stop
) -> Built:
    """Runs the build in ``base`` and writes ``OUT/build.json`` beside ``OUT/files``, also where it failed.

    What it prints is shown as it comes. Raises UsageError for a folder that is not empty.
    """
    if out.exists() and any(out.iterdir()):
        raise UsageError("is not empty", Where(str(out)), "a build needs a folder of its own")
    files = out / FILES
    files.mkdir(parents=True)
    env = {name: value for name, value in environ.items() if name not in WITHHELD}
    env |= {NAME: spec.id, OUT: str(files.absolute()), **spec.env}
    started = time.monotonic()
    failed = _run(spec, base, env, stop)
    digest = ""
    if not failed:
        try:
            manifest = create_manifest(files)
            digest, failed = digest_of(manifest), "" if manifest.files else f"it left nothing in {OUT}"
        except UsageError as error:
            failed = f"what it left can not be handed on: {error}"
    if failed:
        digest = ""
        shutil.rmtree(files)
    seconds = round(time.monotonic() - started, 3)
    built = Built(id=spec.id, provenance=provenance, seconds=seconds, digest=digest, failed=failed)
    write_document(out / BUILD, built)
    return built


def _run(spec: BuildSpec, base: Path, env: Mapping[str, str], stop: Stop) -> str:
    """Runs the command to its end; why it failed, empty where it did not."""
    try:
        process = subprocess.Popen(
            spec.run,
            cwd=base,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return f"{spec.run[0]} can not be started: {error.strerror}"
    assert process.stdout
    show = _Shown()
    deadline = time.monotonic() + spec.timeout_s
    os.set_blocking(process.stdout.fileno(), False)
    why = ""
    try:
        with process.stdout as stream:
            while not has_ended(process) and not why:
                if stop:
                    why = f"the build was interrupted ({stop.reason})"
                elif time.monotonic() > deadline:
                    why = f"the build took longer than {spec.timeout_s:g} s"
                elif not show(stream):
                    time.sleep(POLL_S)
            _end(process)
            while show(stream):
                pass
    finally:
        _end(process)
    if not why and process.returncode:
        said = one_line(" | ".join(show.tail))
        ended = f"exit status {process.returncode}" if process.returncode > 0 else f"signal {-process.returncode}"
        why = f"the build ended with {ended}" + (f": {clip(said, TAIL_BYTES)}" if said else "")
    return why


class _Shown:
    """Repeats what a build prints, and keeps its last lines."""

    def __init__(self) -> None:
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._line = ""

    def __call__(self, stream: IO[bytes]) -> bool:
        """Takes what has come; whether there was something."""
        chunk = stream.read(CHUNK)
        if not chunk:
            return False
        text = self._decoder.decode(chunk)
        sys.stdout.write(text)
        sys.stdout.flush()
        *lines, self._line = (self._line + text)[-TAIL_BYTES:].split("\n")
        self.tail.extend(line.strip() for line in lines if line.strip())
        return True


def _end(process: subprocess.Popen[bytes]) -> None:
    """Leaves nothing of the build's group behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
