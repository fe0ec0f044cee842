"""Which models are on a GPU while others compute, who moved them there, and what was made for nothing."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from diagnose import tracing
from diagnose.kinds import EventKind
from diagnose.tracing.lives import Event, ModuleLife
from diagnose.tracing.recorder import Recorder
from diagnose.tracing.stacks import is_own

#: Functions that only hand on that a module is moved, also where a library defines them anew.
_HANDING = frozenset({"to", "cuda", "cpu", "half", "float", "to_empty", "_apply", "wrapper"})
#: Files and folders whose frames stand between a move and who wants it.
_TORCH = Path(torch.__file__).parent
_HANDS = ("overrides.py", "_tensor.py", "utils/_contextlib.py", "nn/modules/module.py")
_BETWEEN = (str(Path(tracing.__file__).parents[1]), *(str(_TORCH / one) for one in _HANDS))
#: So many modules are remembered that layers on a GPU were made for.
_MADE = 5000


class Residence:
    """What is seen of models as they come and go.

    ``commuting`` are those, or parts of them, that the program puts away on the cpu and brings back
    itself; ``beside`` the pairs of a model that is called and another such one that is on a GPU then;
    ``placed`` counts how often a library moves one to a GPU; ``sent`` are the program's lines that
    do, with its name; ``lapsing`` those that alone do so, with the line that puts it away in the end.
    """

    def __init__(self) -> None:
        self._where: dict[str, list[str]] = {}
        self.beside: set[str] = set()
        self.placed: Counter[str] = Counter()
        self.sent: set[str] = set()
        self._lines: dict[str, list[tuple[str, str]]] = {}

    @property
    def commuting(self) -> list[str]:
        """The models that were put away, and brought back."""
        return sorted(name for name, moves in self._where.items() if _commutes(moves))

    def moved(self, name: str, event: Event) -> None:
        """Is told of a model, or a part of one, that has moved."""
        kind = str(event.device).partition(":")[0]
        self._where.setdefault(name, [])
        for other, moves in self._where.items():
            if f"{other}.".startswith(f"{name}.") and moves[-1:] != [kind]:
                moves.append(kind)
        if kind == "cuda" and by_library():
            self.placed[name] += 1
        elif event.stack:
            line = event.stack[0]
            place = f"{line.code.co_filename}:{line.number}"
            self._lines.setdefault(name, []).append((kind, place))
            if kind == "cuda":
                self.sent.add(f"{place}|{name}")

    @property
    def lapsing(self) -> list[str]:
        """The lines that alone brought a model to a GPU, and those that put it away for good then."""
        found = set()
        for moves in self._lines.values():
            lines = {place for kind, place in moves if kind == "cuda"}
            if len(lines) == 1 and moves[-1][0] == "cpu":
                found.add(f"{lines.pop()}|{moves[-1][1]}")
        return sorted(found)

    def called(self, name: str) -> None:
        """Is told of an outermost call."""
        for other, moves in self._where.items():
            if other != name and moves[-1] == "cuda" and len(moves) > 1:
                self.beside.add(f"{name}|{other}")


def _commutes(moves: list[str]) -> bool:
    """Whether moves, without those that change nothing, lead away from a GPU and back to one."""
    away = moves.index("cpu") if "cpu" in moves else len(moves)
    return "cuda" in moves[away:]


def by_library() -> bool:
    """Whether a library's code, and not the program's, wants what is being moved."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name not in _HANDING and not code.co_filename.startswith(_BETWEEN):
            return not is_own(code)
        frame = frame.f_back
    return False


class Made:
    """The models that are made on a GPU, and those of them in which nothing ever computes."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._made: dict[int, ModuleLife] = {}
        self._called: set[int] = set()

    def registered(self, module: Any, _: str, parameter: Any) -> None:
        """A hook: a parameter is put into a module."""
        if parameter is None or parameter.device.type != "cuda" or len(self._made) >= _MADE:
            return
        if (life := self._recorder.modules.get(module)) is not None:
            self._made[id(life)] = life  # it is kept alive, the module is not

    def called(self, module: Any) -> None:
        """Is told of each call of a module."""
        life = self._recorder.modules.get(module)
        while life is not None and id(life) not in self._called:
            self._called.add(id(life))
            life = life.owner

    def idle(self) -> list[str]:
        """The lines that made models on a GPU that nobody called, as ``file:line``."""
        found = set()
        for life in self._made.values():
            above = [life]
            while above[-1].owner is not None:
                above.append(above[-1].owner)
            if not self._called.intersection(map(id, above)):
                made = next(
                    (one.stack for one in above[-1].events if one.what == EventKind.MADE), ()
                )
                found |= {f"{line.code.co_filename}:{line.number}" for line in made}
        return sorted(found)
