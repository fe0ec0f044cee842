"""Where models come from: candidates of every package that is installed here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from random import Random

from ..model import Piece
from . import graphs, listed, plain, processes, speaking, vision

Source = Callable[[Random], Iterator[Piece]]
#: Packages that list their models themselves: what gives candidates, and how often it is asked.
_OWN: dict[str, tuple[Source, int]] = {
    "torch": (plain.pieces, 6),
    "transformers": (speaking.pieces, 8),
    "peft": (speaking.adapted, 1),
    "timm": (vision.timm, 2),
    "torchvision": (vision.torchvision, 2),
    "torch_geometric": (graphs.pieces, 3),
    "gpytorch": (processes.pieces, 1),
}
#: The same of every package; of one that is missing there are no candidates.
SOURCES: dict[str, tuple[Source, int]] = _OWN | {
    name: (source, 1) for name, source in listed.sources().items()
}


def candidates(rng: Random, packages: Collection[str]) -> Iterator[Piece]:
    """Candidates of some packages in turn, until none is left."""
    running = [
        (source(rng), often) for name, (source, often) in SOURCES.items() if name in packages
    ]
    while running:
        weights = [often for _, often in running]
        chosen = rng.choices(range(len(running)), weights)[0]
        piece = next(running[chosen][0], None)
        if piece is None:
            del running[chosen]
        else:
            yield piece
