"""Many literals in one pass over a block, and its line feeds, both with the processor's vector units.

`ahocorasick_rs` searches for all literals at once, faster than grep for one. Where it cannot be had,
`bytes.find` does the same, one literal after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: Where literals crowd, `bytes.find` goes on after so many bytes.
_STRIDE = 256

#: (index of the literal, where it begins, where it ends), as the library tells it.
Hit = tuple[int, int, int]
Find = Callable[[bytes], list[Hit]]
Count = Callable[[bytes], int]


def finder(literals: Sequence[bytes]) -> Find:
    """A function that tells where literals stand in a block, in their order. Of two that overlap one is
    told, the earlier or else the first listed."""
    try:
        import ahocorasick_rs
    except ImportError:
        return _one_by_one(literals)
    automaton = ahocorasick_rs.BytesAhoCorasick(
        list(literals),
        # Leftmost matching is what lets the library use its vectorised search.
        matchkind=ahocorasick_rs.MatchKind.LeftmostFirst,
    )
    find: Find = automaton.find_matches_as_indexes
    return find


def _one_by_one(literals: Sequence[bytes]) -> Find:
    def find(block: bytes) -> list[Hit]:
        found: list[Hit] = []
        for index, literal in enumerate(literals):
            at = block.find(literal)
            while at >= 0:
                found.append((index, at, at + len(literal)))
                at = block.find(literal, at + _STRIDE)
        return sorted(found, key=lambda hit: hit[1])

    return find


def line_counter() -> Count:
    """A function that counts the line feeds of a block; numpy's is six times as fast, where it is."""
    try:
        import numpy as np
    except ImportError:
        return lambda block: block.count(b"\n")
    return lambda block: int(np.count_nonzero(np.frombuffer(block, np.uint8) == 10))
