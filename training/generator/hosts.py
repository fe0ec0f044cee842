"""Draws hosts: a piece that runs here, a style, and features that fit both."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from random import Random
from typing import Any

from . import incidents
from .model import Host, Piece
from .notes import noted
from .pieces import candidates
from .probing import probed
from .rendering import host
from .templates import LOOP, SECTIONS, Style, features, styles

_SHARE_OF_INCIDENTS = 0.12
_SINGLE = ("model", "optimizer", "criterion")


def hosts(rng: Random, made: Counter[str], packages: Collection[str]) -> Iterator[Host]:
    """Hosts, one after the other; ``made`` counts the causes so far, the rare ones are drawn more often."""
    pieces = candidates(rng, packages)
    documented = incidents.hosts(rng) if "incidents" in packages else iter(())
    for number in count():
        if rng.random() < _SHARE_OF_INCIDENTS:
            one = next(documented, None)
            if one is not None:
                yield one
                continue
        candidate = next(pieces, None)
        if candidate is None:
            break
        piece = probed(candidate)
        if piece is not None:
            yield around(piece, rng, made, number)


def around(piece: Piece, rng: Random, made: Counter[str], number: int) -> Host:
    """A host around a piece: a style that fits it, and features that fit both."""
    style = rng.choice([one for one in styles() if fits_style(piece, one)])
    chosen: list[Mapping[str, Any]] = []
    free = [one for one in features() if fits(one, style)]
    for _ in range(rng.choice((1, 2, 2, 3))):
        room = [one for one in free if together(one, chosen)]
        if room:
            weights = [1 / (1 + _least(one, made)) for one in room]
            chosen.append(rng.choices(room, weights)[0])
    stem = f"{piece.family}_{style.name}".replace("-", "_").replace(".", "_")
    return host(piece, style, chosen, rng, f"{stem}_{number:04d}")


def _least(feature: Mapping[str, Any], made: Counter[str]) -> int:
    """How often the rarest cause of a feature was planted so far."""
    text = "\n".join(str(feature.get(section, "")) for section in (*SECTIONS, *LOOP))
    return min((made[note.cause] for note in noted(text)), default=20)


def fits_style(piece: Piece, style: Style) -> bool:
    """Whether a style can feed a piece, and its package is here: no loader takes a batch that is whole."""
    needs = style.settings.get("needs", "torch")
    return _is_here(needs) and not (piece.whole and style.settings.get("whole") == "no")


def _is_here(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def fits(feature: Mapping[str, Any], style: Style) -> bool:
    """Whether a style has room for all of a feature, and the packages are here."""
    kind = style.settings.get("kind", "plain")
    if kind not in feature.get("for", "plain").split():
        return False
    if not _is_here(feature.get("needs", "torch")):
        return False
    if feature.get("train") and "@optimizer" not in style.template:
        return False
    for section in (*SECTIONS, *LOOP):
        if section in feature and section not in ("imports", "defs"):
            if section in ("init", "forward"):
                if style.settings.get("net") == "split":
                    return False
            elif f"@{section}\n" not in style.template:
                return False
    return True


def together(feature: Mapping[str, Any], chosen: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a feature may stand beside others: not twice, and no two of one section that holds one."""
    if any(feature is one for one in chosen):
        return False
    taken = {section for one in chosen for section in _SINGLE if section in one}
    return not taken & {section for section in _SINGLE if section in feature}
