"""What a message says about devices: the wordings of kb/messages.toml, tried on one message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from diagnose.model import Mismatch, Wording
from diagnose.parsing.lines import Peeled

if TYPE_CHECKING:
    import regex

_LONGEST = 6000
_TIMEOUT = 0.05
_ROLES = ("expected", "found", "a", "b", "c", "d")
_KINDS = frozenset((
    "cpu", "cuda", "gpu", "mps", "xpu", "npu", "hpu", "xla", "mtia", "maia", "meta", "privateuseone",
    "ipu", "ve", "fpga", "hip", "mkldnn", "opengl", "opencl", "ideep", "lazy", "vulkan", "dml",
    "sparsecpu", "sparsecuda", "quantizedcpu", "quantizedcuda", "mlu", "musa", "vacc",
))  # fmt: skip


class Reading(NamedTuple):
    """A wording that was recognised, and what it says."""

    wording: Wording
    mismatch: Mismatch


class Wordings:
    """The known wordings; a pattern is compiled when one of its literals is first met."""

    def __init__(self, wordings: Sequence[Wording]) -> None:
        self._wordings = tuple(wordings)
        self._compiled: dict[str, regex.Pattern[str]] = {}

    def read(self, message: str) -> Reading | None:
        """The best reading of a message: not of a wording that quotes another error where that is known
        too, then of the longest match, then of the wording that stands first."""
        text = " ".join(message[:_LONGEST].split())
        folded = text.casefold()
        best: tuple[bool, int, int] | None = None
        chosen: Reading | None = None
        for position, wording in enumerate(self._wordings):
            if not any(literal in text for literal in wording.literals):
                continue
            if not all(any(literal in folded for literal in group) for group in wording.demands):
                continue
            match = self._search(wording, text)
            if match is None:
                continue
            order = (wording.quotes, match.start() - match.end(), position)
            if (best is None or order < best) and (said := _mismatch(wording, match)) is not None:
                best, chosen = order, Reading(wording, said)
        return chosen

    def first_line(self, lines: Sequence[Peeled]) -> tuple[Peeled, Reading] | None:
        """The first line that a wording of a device error recognises, and its reading."""
        whole = "\n".join(line.text for line in lines)
        literals = {x for w in self._wordings if w.device_error for x in w.literals if x in whole}
        if not literals:
            return None
        for line in lines:
            if any(literal in line.text for literal in literals):
                reading = self.read(line.text)
                if reading is not None and reading.wording.device_error:
                    return line, reading
        return None

    def _search(self, wording: Wording, text: str) -> regex.Match[str] | None:
        import regex

        pattern = self._compiled.get(wording.pattern)
        if pattern is None:
            pattern = self._compiled[wording.pattern] = regex.compile(wording.pattern)
        try:
            return pattern.search(text, timeout=_TIMEOUT)
        except TimeoutError:
            return None


def _mismatch(wording: Wording, match: regex.Match[str]) -> Mismatch | None:
    """What the match says; None where both sides turn out to be on one device (a difference of dtype)."""
    spans = match.capturesdict()
    sides = [value for role in _ROLES for value in spans.get(role, [])]
    kinds = {_kind_of_type(side) for side in sides}
    if len(sides) > 1 and len(kinds) == 1 and None not in kinds:
        return None
    devices = _in_order(match)
    return Mismatch(
        devices=devices,
        op=_last(spans, "method") or _last(spans, "op"),
        argument=_last(spans, "arg"),
        wording=wording.id,
        expected=_device(_last(spans, "expected")),
        found=_device(_last(spans, "found")),
    )


def _in_order(match: regex.Match[str]) -> tuple[str, ...]:
    named = match.re.groupindex
    found: list[tuple[int, str]] = []
    for role in (*_ROLES, "devices"):
        if role not in named:
            continue
        for (start, _), value in zip(match.spans(role), match.captures(role), strict=True):
            if role == "devices":
                found += [(start + k, device) for k, device in enumerate(_listed(value))]
            elif device := _device(value):
                found.append((start, device))
    return tuple(device for _, device in sorted(found))


def _last(spans: dict[str, list[str]], role: str) -> str | None:
    values = spans.get(role)
    return values[-1] if values else None


def _device(text: str | None) -> str | None:
    """The text where it is a device (cuda:1, CPU), None for type names, bare numbers and cut words."""
    if text is None:
        return None
    return text if text.split(":")[0].lower() in _KINDS or ":" in text else None


def _listed(text: str) -> list[str]:
    """The devices in a printed list or set, as reprs or plainly."""
    import regex

    found: list[str] = []
    for match in regex.finditer(
        r"device\(type='(\w+)'(?:, index=(\d+))?\)|['(\s\[{](\w+(?::\d+)?)(?=['),\]}])", text
    ):
        if match[1]:
            found.append(match[1] + (f":{match[2]}" if match[2] else ""))
        elif match[3].split(":")[0].lower() in _KINDS:
            found.append(match[3])
    return list(dict.fromkeys(found))


def _kind_of_type(text: str) -> str | None:
    """The device that a type's or backend's name stands for (torch.cuda.HalfTensor, MPSFloatType, CUDA);
    None for what is a device itself."""
    if text.startswith("torch.") and text.endswith(("Tensor", "TensorType")):
        parts = text.split(".")
        return parts[1] if len(parts) > 2 and parts[1] != "sparse" else "cpu"
    if text.endswith("Type"):
        head = next((kind for kind in _KINDS if text.lower().startswith(kind)), None)
        return head
    if text in ("float", "double", "int", "long", "bool") or text.startswith("c10::"):
        return "dtype"
    return text.lower() if text.isupper() else None
