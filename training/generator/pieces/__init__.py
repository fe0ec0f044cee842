"""Where models come from: a catalogue of candidates of every package that is installed here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from ..model import Piece
from . import diffusion, graphs, plain, processes, sentences, speaking, vision

Source = Callable[[Random], Iterator[Piece]]
#: Each gives candidates without end, or none where its package is missing, and how often it is asked.
SOURCES: tuple[tuple[Source, int], ...] = (
    (plain.pieces, 5),
    (speaking.pieces, 8),
    (speaking.adapted, 1),
    (vision.timm, 2),
    (vision.torchvision, 2),
    (vision.monai, 1),
    (graphs.pieces, 3),
    (diffusion.pieces, 1),
    (sentences.pieces, 1),
    (processes.pieces, 1),
)


def candidates(rng: Random) -> Iterator[Piece]:
    """Candidates of all sources in turn, until none is left."""
    running = [(source(rng), often) for source, often in SOURCES]
    while running:
        weights = [often for _, often in running]
        chosen = rng.choices(range(len(running)), weights)[0]
        piece = next(running[chosen][0], None)
        if piece is None:
            del running[chosen]
        else:
            yield piece
