"""When a leased device is used."""

import pytest

from ci_toolkit.devices.admission import Admission, Foreign, ForeignProcess, Usage, admit
from ci_toolkit.errors import InfrastructureError

GIB = 1 << 30
STRANGER = ForeignProcess(pid=7, name="python", user="bob", used_bytes=3 * GIB)


@pytest.mark.parametrize(
    ("usage", "policy", "said"),
    [
        (None, Admission(min_free_bytes=GIB), ""),
        (Usage(8 * GIB), Admission(min_free_bytes=8 * GIB), ""),
        (Usage(7 * GIB), Admission(min_free_bytes=8 * GIB), "D has 7.0 GiB free, 8.0 GiB are asked for"),
        (Usage(8 * GIB, (STRANGER,)), Admission(), "D is in use by python (7 of bob, 3.0 GiB)"),
        (Usage(8 * GIB, (STRANGER,) * 5), Admission(), "(7 of bob, 3.0 GiB) and 2 more"),
        (Usage(8 * GIB, (STRANGER,)), Admission(foreign=Foreign.ALLOW), ""),
        (Usage(0, (STRANGER,)), Admission(GIB, Foreign.ALLOW), "D has 0 MiB free, 1.0 GiB are asked for"),
        (Usage(1, (ForeignProcess(9, ""),)), Admission(), "D is in use by process (9)"),
    ],
)
def test_what_is_waited_for(usage: Usage | None, policy: Admission, said: str) -> None:
    found = admit("D", usage, policy)
    assert found.endswith(said) if said else not found


def test_what_is_refused() -> None:
    with pytest.raises(InfrastructureError, match=r"D is in use by python \(7 of bob, 3\.0 GiB\)"):
        admit("D", Usage(GIB, (STRANGER,)), Admission(foreign=Foreign.REFUSE))
