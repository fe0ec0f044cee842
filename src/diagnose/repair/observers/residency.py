"""Which models are on a GPU while others compute, and which the program puts away and brings back."""

from __future__ import annotations

from diagnose.tracing.lives import Event


class Residence:
    """What is seen of models as they come and go.

    ``commuting`` are those, or parts of them, that the program puts away on the cpu and brings back
    itself; ``beside`` the pairs of a model that is called and another such one that is on a GPU then.
    """

    def __init__(self) -> None:
        self._where: dict[str, list[str]] = {}
        self.beside: set[str] = set()

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

    def called(self, name: str) -> None:
        """Is told of an outermost call."""
        for other, moves in self._where.items():
            if other != name and moves[-1] == "cuda" and len(moves) > 1:
                self.beside.add(f"{name}|{other}")


def _commutes(moves: list[str]) -> bool:
    """Whether moves, without those that change nothing, lead away from a GPU and back to one."""
    away = moves.index("cpu") if "cpu" in moves else len(moves)
    return "cuda" in moves[away:]
