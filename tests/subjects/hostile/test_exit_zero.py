"""One culprit between cases that pass: it ends the whole process with status 0."""

import culprits
import pytest


@pytest.mark.parametrize("number", range(3))
def test_before(number):
    assert number < 3


def test_ends_the_process():
    culprits.exit_with_success()


@pytest.mark.parametrize("number", range(3))
def test_after(number):
    assert number < 3
