"""One culprit between cases that pass: it never ends, and holds the interpreter's lock."""

import culprits
import pytest


@pytest.mark.parametrize("number", range(3))
def test_before(number):
    assert number < 3


def test_hangs_in_native_code():
    culprits.hang_in_native_code()


@pytest.mark.parametrize("number", range(3))
def test_after(number):
    assert number < 3
