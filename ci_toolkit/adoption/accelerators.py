"""Which accelerator a runner's label names. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

KINDS = (
    # What a word of a label is, and the device module that it means.
    (r"cuda\d*|nvidia", "cuda"),
    (r"rocm\d*", "rocm"),
    (r"npu|ascend", "ascend"),
    (r"xpu", "xpu"),
    (r"musa|mthreads", "musa"),
    (r"maca|metax", "maca"),
    (r"dcu", "dcu"),
    (r"mlu", "mlu"),
    (r"hpu", "hpu"),
    (r"tpu", "tpu"),
    (r"gcu", "gcu"),
    (r"iluvatar", "iluvatar"),
)
CARDS = (
    # The same for cards, with the architecture where one is the card's alone.
    (r"v100", "cuda", "sm_70"),
    (r"t4", "cuda", "sm_75"),
    (r"a100|a800|a30", "cuda", "sm_80"),
    (r"a10g?|a40|rtx30\d0", "cuda", "sm_86"),
    (r"l4|l20|l40s?|rtx40\d0", "cuda", "sm_89"),
    (r"h20|h100|h200|h800|gh200", "cuda", "sm_90"),
    (r"b200|gb200", "cuda", "sm_100"),
    (r"mi\d{2,3}[ax]?|gfx[0-9a-f]+", "rocm", "*"),
    (r"ascend\w+|910[abc]\w*", "ascend", "*"),
    (r"pvc|bmg", "xpu", "*"),
    (r"s[45]000", "musa", "*"),
    (r"c550", "maca", "*"),
    (r"bw1000", "dcu", "*"),
    (r"mlu\d+", "mlu", "*"),
    (r"gaudi\d*", "hpu", "*"),
    (r"tpuv?\d\w*", "tpu", "*"),
    (r"v150", "iluvatar", "*"),
)
UNKNOWN = "gpu"
"""A word that promises a card and does not say which."""
_COUNT = re.compile(r"\d+x(?=[a-z])|(?<=\w)x\d+$")
_HOSTED = re.compile(r"(ubuntu|windows|macos)-(latest|slim|[\d.]+)(-(arm|intel|large|xlarge|vs\d+))*")
GENERIC = frozenset({"self-hosted", "linux", "windows", "macos", "x64", "x86", "arm", "arm64"})


@dataclass(frozen=True)
class Accelerator:
    """What a ``label`` names: a device module of conf, and the card with its architecture where the label says one."""

    label: str
    device: str
    card: str = ""
    arch: str = "*"

    @property
    def platform(self) -> str:
        """What a platform for it is called."""
        return f"{self.device}_{self.card}" if self.card else self.device


def is_self_hosted(labels: Sequence[str]) -> bool:
    """Whether a job with these labels runs on somebody's own machine."""
    return "self-hosted" in labels or not any(_HOSTED.fullmatch(label.lower()) for label in labels)


def accelerator(labels: Iterable[str]) -> Accelerator | None:
    """The accelerator that the labels name, the one that says most first: ``h200`` says more than ``cuda``."""
    found = [named for label in labels if label.lower() not in GENERIC for named in _named(label)]
    return max(found, key=lambda one: (one.device != UNKNOWN, one.arch != "*", bool(one.card)), default=None)


def _named(label: str) -> Iterator[Accelerator]:
    for word in (_COUNT.sub("", word) for word in re.split(r"[^a-z0-9]+", label.lower())):
        yield from (Accelerator(label, device) for pattern, device in KINDS if re.fullmatch(pattern, word))
        yield from (
            Accelerator(label, device, word, arch) for pattern, device, arch in CARDS if re.fullmatch(pattern, word)
        )
        if word == UNKNOWN:
            yield Accelerator(label, UNKNOWN)
