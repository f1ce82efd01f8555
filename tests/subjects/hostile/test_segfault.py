"""One culprit between cases that pass: it crashes with SIGSEGV."""

import culprits
import pytest


@pytest.mark.parametrize("number", range(3))
def test_before(number):
    assert number < 3


def test_reads_address_zero():
    culprits.segfault()


@pytest.mark.parametrize("number", range(3))
def test_after(number):
    assert number < 3
