"""A command line that people copy: a real shell reads the same words out of it, whatever tests are called."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ci_toolkit.model.text import visible
from ci_toolkit.model.verdict import Reproduce
from ci_toolkit.reproduce.command import shell_line

TELL = "import os, sys; sys.stdout.buffer.write(b'\\0'.join(map(os.fsencode, [os.environ['V'], *sys.argv[1:]])))"
BYTES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
ODD = "\x1b[31m'\"\\$`!\n\t\r##[x]::error::\u202e\udcff\u00a0#{a,b}*?~ é"


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(BYTES, max_size=4), BYTES)
@example([ODD, "", "-x", "a b"], ODD)
def test_a_shell_reads_the_same_words(words: list[str], value: str) -> None:
    line = shell_line(Reproduce(argv=(sys.executable, "-c", TELL, *words), env={"V": value}))
    assert visible(line) == line, "every surface shows it as it is"
    assert "\n" not in line
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
    assert done.stdout.split(b"\0") == [os.fsencode(word) for word in (value, *words)]


@pytest.mark.parametrize("name", ["plain", "with space", "line\nbreak", "\x1b[31mred", "it's"])
def test_a_folder_of_any_name_is_entered(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    line = shell_line(Reproduce(argv=("pwd",), cwd=str(folder)))
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout == f"{folder}\n"


def test_half_a_character_is_told_and_stops_nothing() -> None:
    assert shell_line(Reproduce(argv=("x\ud800",))) == "$'x\\\\ud800'"
