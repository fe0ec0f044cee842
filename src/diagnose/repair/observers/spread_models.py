"""Models that the program spreads over several GPUs, and that a library gathers on one."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from diagnose import tracing
from diagnose.tracing.lives import Event, ModuleLife
from diagnose.tracing.stacks import is_own

#: Functions that only hand on that a module is moved, also where a library defines them anew.
_HANDING = frozenset({"to", "cuda", "cpu", "half", "float", "to_empty", "_apply", "wrapper"})
#: Files and folders whose frames stand between a move and who wants it.
_TORCH = Path(torch.__file__).parent
_HANDS = ("overrides.py", "_tensor.py", "utils/_contextlib.py", "nn/modules/module.py")
_BETWEEN = (str(Path(tracing.__file__).parents[1]), *(str(_TORCH / one) for one in _HANDS))


class Spread:
    """Is told of moves, and looks where things are. ``gathered`` are the parts of models that the program
    sent to several GPUs, and that were last seen on another one than it sent them to, by their names."""

    def __init__(self) -> None:
        self._sent: dict[int, tuple[ModuleLife, str]] = {}
        self.gathered: set[str] = set()

    def moved(self, life: ModuleLife, event: Event) -> None:
        """Is told of a module that has moved; what the program sends is sent with all its parts."""
        if _is_by_library():
            return
        self._sent = {key: one for key, one in self._sent.items() if life not in one[0].above()}
        self._sent[id(life)] = (life, str(event.device))

    def look(self) -> None:
        """Looks where the parts are that are alive."""
        models: dict[int, list[tuple[ModuleLife, str]]] = {}
        for life, device in self._sent.values():
            models.setdefault(id([*life.above()][-1]), []).append((life, device))
        for parts in models.values():
            if len({device for _, device in parts if device.startswith("cuda:")}) > 1:
                for life, device in parts:
                    module: Any = life.module()
                    if module is not None:
                        homes = {str(one.device) for one in module.parameters()}
                        if homes == {device}:
                            self.gathered.discard(_name(life))
                        elif len(homes) == 1 and homes.pop().startswith("cuda:"):
                            self.gathered.add(_name(life))  # one on the cpu may rest there


def _name(life: ModuleLife) -> str:
    names = [one.name or one.kind for one in life.above()]
    return ".".join(reversed(names[:-1])) or names[-1]


def _is_by_library() -> bool:
    """Whether a library's code, and not the program's, wants what is being moved."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name not in _HANDING and not code.co_filename.startswith(_BETWEEN):
            return not is_own(code)
        frame = frame.f_back
    return False
