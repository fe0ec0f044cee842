"""Which operand of the failing line was on which device, as far as anything tells, and which of several is
likely the misplaced one where neither message nor carets tell: a share each.

A cause says what it misplaces (a tensor that was made without a device, an attribute that no move
reaches), and what an operand is, its name and the calls above it say (`provenance`). Together they tell
more than either: of 81 operands among several the origins alone chose the right one in 40, with the
causes in 59; 29 of 32 where the share was 0.8 or more (docs/measurements.md).
"""

from __future__ import annotations

from collections.abc import Mapping

from diagnose.kinds import DeviceType
from diagnose.model import ANY, Met, Strays
from diagnose.placement import Suspect
from diagnose.scene import provenance
from diagnose.scene.meeting import Operand, kind
from diagnose.scene.scene import Scene


def operands(scene: Scene, suspect: Suspect | None = None) -> tuple[Met, ...]:
    """The operands whose devices are known, the misplaced one first.

    The message tells them where it names an argument or speaks of two GPUs in the line's order. Where it
    only names a GPU and the cpu, the one operand that can be misplaced was on the cpu.

    Args:
        scene: the report, looked at.
        suspect: what the files say of the misplaced one.
    """
    met, mismatch = scene.met, scene.report.mismatch
    if met is None or mismatch is None:
        return ()
    known = [one for one in (*met.strays, *met.others) if one.device is not None]
    if known:
        return tuple(Met(one.text, one.device) for one in known if one.device is not None)
    home = [device for device in mismatch.devices if kind(device) == "gpu"]
    if len(mismatch.devices) != 2 or len(home) != 1:
        return ()
    away = next(device for device in mismatch.devices if device != home[0])
    strays, others = _parted((*met.strays, *met.others), len(met.strays), suspect)
    if len(strays) != 1:
        return ()
    told = [Met(strays[0].text, away), *(Met(one.text, home[0]) for one in others)]
    return tuple(told[:2])


def _parted(
    both: tuple[Operand, ...], strays: int, suspect: Suspect | None
) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
    """The operands that may be misplaced and the others; the suspect's alone where it is among them."""
    named = tuple(one for one in both if suspect is not None and one.text == suspect.name)
    if (
        named
        and suspect is not None
        and suspect.device is not None
        and suspect.device.type == DeviceType.CPU
    ):
        return named, tuple(one for one in both if one not in named)
    return both[:strays], both[strays:]


#: That a cause misplaces what its table in kb/strays.toml does not name.
_SELDOM = 0.02


def shares(scene: Scene, causes: Mapping[str, float]) -> dict[str, float]:
    """The share of each operand that may be the misplaced one, likeliest first; empty where the line shows
    none.

    Args:
        scene: the report, looked at.
        causes: the confidence of each cause.
    """
    met, site = scene.met, scene.site
    if met is None or site is None:
        return {}
    knowledge, weights = scene.knowledge, dict[str, float]()
    for one in met.strays:
        found = provenance.of_operand(one, site, scene.above, knowledge.torch)
        weights[one.text] = sum(
            confidence * share * _misplaced(knowledge.strays, cause, origin)
            for cause, confidence in causes.items()
            for origin, share in found.items()
        )
    total = sum(weights.values())
    ordered = sorted(weights.items(), key=lambda item: -item[1])
    return {text: weight / total for text, weight in ordered} if total else {}


def _misplaced(strays: Strays, cause: str, origin: str) -> float:
    row = strays.get(cause)
    return strays[ANY][origin] if row is None else row.get(origin, _SELDOM)
