"""One culprit between cases that pass: it passes, and leaves a process that holds its output and ignores SIGTERM."""

import culprits
import pytest


@pytest.mark.parametrize("number", range(3))
def test_before(number):
    assert number < 3


def test_leaves_an_orphan():
    culprits.leave_an_orphan()


@pytest.mark.parametrize("number", range(3))
def test_after(number):
    assert number < 3
