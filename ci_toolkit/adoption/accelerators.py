"""Which accelerator a runner's label names. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CARDS = (
    # What a word of a label is, the device module that drives it, and its architecture where conf can say one.
    (r"cuda\d*|nvidia", "cuda", "*"),
    (r"v100", "cuda", "sm_70"),
    (r"t4", "cuda", "sm_75"),
    (r"a100|a800|a30", "cuda", "sm_80"),
    (r"a10g?|a40|rtx30\d0", "cuda", "sm_86"),
    (r"l4|l20|l40s?|rtx40\d0", "cuda", "sm_89"),
    (r"h20|h100|h200|h800|gh200", "cuda", "sm_90"),
    (r"b200|gb200", "cuda", "sm_100"),
    (r"rocm\d*|mi\d{2,3}[ax]?|gfx[0-9a-f]+", "rocm", "*"),
    (r"npu|ascend\w*|910[abc]\w*", "ascend", "*"),
    (r"xpu|pvc|bmg", "xpu", "*"),
    (r"musa|mthreads|s[45]000", "musa", "*"),
    (r"maca|metax|c550", "maca", "*"),
    (r"dcu|bw1000", "dcu", "*"),
    (r"mlu\d*", "mlu", "*"),
    (r"hpu|gaudi\d*", "hpu", "*"),
    (r"tpu\w*", "tpu", "*"),
    (r"gcu", "gcu", "*"),
    (r"iluvatar|bi-?v150", "iluvatar", "*"),
)
_COUNT = re.compile(r"\d+x(?=[a-z])|(?<=\w)x\d+$")
_HOSTED = re.compile(r"(ubuntu|windows|macos)-(latest|slim|[\d.]+)(-(arm|intel|large|xlarge|vs\d+))*")
GENERIC = frozenset({"self-hosted", "linux", "windows", "macos", "x64", "x86", "arm", "arm64"})


@dataclass(frozen=True)
class Accelerator:
    """A kind of card: the ``label`` that named it, the ``card`` in that label, and what conf calls these."""

    label: str
    card: str
    device: str
    arch: str

    @property
    def platform(self) -> str:
        """What a platform for it is called."""
        return self.device if self.card == self.device else f"{self.device}_{self.card}"


def is_self_hosted(labels: Sequence[str]) -> bool:
    """Whether a job with these labels runs on somebody's own machine."""
    return "self-hosted" in labels or not any(_HOSTED.fullmatch(label.lower()) for label in labels)


def accelerator(labels: Iterable[str]) -> Accelerator | None:
    """The accelerator that the labels name, the one that says most first: ``h200`` says more than ``cuda``."""
    found = [named for label in labels if label.lower() not in GENERIC for named in _named(label)]
    return max(found, key=lambda one: (one.arch != "*", one.card != one.device), default=None)


def _named(label: str) -> list[Accelerator]:
    words = [_COUNT.sub("", word) for word in re.split(r"[^a-z0-9]+", label.lower())]
    return [
        Accelerator(label, word, device, arch)
        for word in words
        for pattern, device, arch in CARDS
        if re.fullmatch(pattern, word)
    ]
