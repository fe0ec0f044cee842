"""Names that are drawn at random."""

from __future__ import annotations

import re
from random import Random

from .model import Piece

_ENDS = ("Net", "Task", "Classifier", "Encoder", "Tagger", "Scorer", "Ranker", "Detector")


def drawn(text: str, names: dict[str, str], rng: Random) -> str:
    """A text with ``<N:one|two>`` and ``<N>`` replaced; ``names`` keeps what was drawn."""

    def one(found: re.Match[str]) -> str:
        if found[2] is not None and found[1] not in names:
            names[found[1]] = rng.choice(found[2].split("|"))
        return names[found[1]]

    return re.sub(r"<([A-Z]\w*)(?::([^<>]*))?>", one, text)


def class_name(piece: Piece, rng: Random) -> str:
    """A name for the model's class."""
    stem = re.sub(r"\W|_", "", piece.family.title()) or "Plain"
    name = f"{stem[:14]}{rng.choice(_ENDS)}"
    return name if name[0].isalpha() else f"The{name}"
