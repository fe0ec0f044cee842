"""Which operand of the failing line was on which device, as far as anything tells."""

from __future__ import annotations

from diagnose.kinds import DeviceType
from diagnose.model import Met
from diagnose.placement import Suspect
from diagnose.scene.devices import kind
from diagnose.scene.meeting import Operand
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
