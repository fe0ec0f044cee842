"""What a message says about devices: the wordings of kb/messages.toml, tried on one message."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from diagnose.model import Mismatch, Wording
from diagnose.parsing.lines import Peeled

if TYPE_CHECKING:
    import regex

_LONGEST = 6000
_TIMEOUT = 0.05
#: So much of a wording's literal text must stand in a message that was cut short.
_UNMISTAKABLE = 12
_QUOTES = str.maketrans(dict.fromkeys('"`´‘’“”', "'"))
#: What may stand before a message: nothing, or the end of a prefix.
_BEFORE = ("", ":", "]", ")", "|", ">")
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
        too, then of the longest match, then of the wording that stands first. Where none is known as it
        stands, case and kind of quotes do not count."""
        text = " ".join(message[:_LONGEST].split())
        exact = self._read(text)
        if exact is not None and not exact.wording.quotes:
            return exact
        copied = self._read_folded(text)
        return exact if copied is None or (exact and copied.wording.quotes) else copied

    def _read(self, text: str) -> Reading | None:
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

    def _read_folded(self, text: str) -> Reading | None:
        """The longest reading of a wording that a library copied with other capitals or quotes."""
        text = text.translate(_QUOTES)
        folded = text.casefold()
        best: regex.Match[str] | None = None
        chosen: Reading | None = None
        for wording in self._wordings:
            if not any(len(x) >= _UNMISTAKABLE and _folded(x) in folded for x in wording.literals):
                continue
            match = self._search(wording, text, pattern=f"(?i){wording.pattern.translate(_QUOTES)}")
            longer = match and (best is None or len(match[0]) > len(best[0]))
            if match and longer and (said := _mismatch(wording, match)) is not None:
                best, chosen = match, Reading(wording, said)
        return chosen

    def read_cut(self, message: str) -> tuple[Reading, str] | None:
        """The reading of a message that ends in the middle of a wording, perhaps with "..." behind, and
        what is there of that wording; None where it is less than `_UNMISTAKABLE` characters of a literal.

        "Expected all tensors to be on th" is such a message. A device at its end may itself be cut, and is
        not told.
        """
        flat = " ".join(message[:_LONGEST].split())
        text = flat.removesuffix("…").removesuffix("...").rstrip()
        best: regex.Match[str] | None = None
        chosen: tuple[Reading, str] | None = None
        for wording in self._wordings:
            last = wording.pattern.removesuffix(r"\b")
            if not wording.device_error or any(
                last.endswith(x) and x in text for x in wording.literals
            ):
                continue  # not cut, where its last words are there
            starts = [at for x in wording.literals if (at := _begun(x, text)) is not None]
            match = self._search(wording, text, partial=True) if starts else None
            if match is None or not match.partial or match.start() > min(starts):
                continue
            if text[: match.start()].rstrip()[-1:] not in _BEFORE:
                continue  # a sentence of its own that ends in a few of the same words
            longer = best is None or match.start() < best.start()
            if longer and (said := _mismatch(wording, match)) is not None:
                best, chosen = match, (Reading(wording, said), match[0])
        return chosen

    def first_line(
        self, lines: Sequence[Peeled], also: frozenset[str] = frozenset()
    ) -> tuple[Peeled, Reading] | None:
        """The first line that a wording of a device error recognises, and its reading; ``also``: one that
        says something of these."""

        def is_meant(wording: Wording) -> bool:
            return wording.device_error or not also.isdisjoint(wording.says)

        whole = "\n".join(line.text for line in lines)
        literals = {x for w in self._wordings if is_meant(w) for x in w.literals if x in whole}
        if not literals:
            return None
        for line in lines:
            if any(literal in line.text for literal in literals):
                reading = self.read(line.text)
                if reading is not None and is_meant(reading.wording):
                    return line, reading
        return None

    def _search(
        self, wording: Wording, text: str, *, pattern: str = "", partial: bool = False
    ) -> regex.Match[str] | None:
        import regex

        source = pattern or wording.pattern
        compiled = self._compiled.get(source)
        if compiled is None:
            compiled = self._compiled[source] = regex.compile(source)
        try:
            return compiled.search(text, timeout=_TIMEOUT, partial=partial)
        except TimeoutError:
            return None


@lru_cache(maxsize=2048)
def _folded(literal: str) -> str:
    return literal.translate(_QUOTES).casefold()


def _begun(literal: str, text: str) -> int | None:
    """Where a literal stands in the text, or where the text ends in the first part of it."""
    stem = literal[:_UNMISTAKABLE]
    at = text.rfind(stem) if len(stem) == _UNMISTAKABLE else -1
    whole = at >= 0 and (text.startswith(literal, at) or literal.startswith(text[at:]))
    return at if whole else None


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
        element=int(element) if (element := _last(spans, "element")) else None,
        wording=wording.id,
        expected=_device(_last(spans, "expected")),
        found=_device(_last(spans, "found")),
        says=wording.says,
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
