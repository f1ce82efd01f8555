"""All four culprits in one file, each after a case that passes, and a case that passes at the end."""

import culprits


def test_passes_before_the_orphan():
    pass


def test_leaves_an_orphan():
    culprits.leave_an_orphan()


def test_passes_before_the_segfault():
    pass


def test_reads_address_zero():
    culprits.segfault()


def test_passes_before_the_hang():
    pass


def test_hangs_in_native_code():
    culprits.hang_in_native_code()


def test_passes_before_the_exit():
    pass


def test_ends_the_process():
    culprits.exit_with_success()


def test_passes_at_the_end():
    pass
