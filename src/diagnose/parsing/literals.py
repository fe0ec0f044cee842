"""Many literals searched for in a block, and its line feeds counted, with the processor's vector units.

`ahocorasick_rs` searches faster than grep as long as the literals are few. Where it cannot be imported,
`bytes.find` does the same, one literal after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType

#: Where literals crowd, `bytes.find` goes on after so many bytes.
STRIDE = 256
#: So many literals the vector units look for at once.
_A_PASS = 64

#: (index of the literal, where it begins, where it ends), as the library tells it.
Hit = tuple[int, int, int]
Find = Callable[[bytes], list[Hit]]
Count = Callable[[bytes], int]


def finder(literals: Sequence[bytes]) -> Find:
    """A function that tells where a few dozen literals stand in a block, in their order. Of those that
    overlap perhaps one is told."""
    starts = range(0, len(literals), _A_PASS)
    passes = [(start, _automaton(literals[start : start + _A_PASS])) for start in starts]
    if not all(search for _, search in passes):
        return _one_by_one(literals)

    def find(block: bytes) -> list[Hit]:
        found: list[Hit] = []
        for first, search in passes:
            if search is not None and (hits := search(block)):
                found += [(first + index, start, end) for index, start, end in hits]
        return sorted(found, key=_place) if len(passes) > 1 else found

    return find


def exact_finder(literals: Sequence[bytes]) -> Find:
    """As `finder`, of hundreds of literals, at a tenth of its speed."""
    return _automaton(literals, dense=True) or _one_by_one(literals)


def _automaton(literals: Sequence[bytes], *, dense: bool = False) -> Find | None:
    try:
        import ahocorasick_rs as library
    except ImportError:
        return None
    automaton = library.BytesAhoCorasick(
        list(literals),
        # Leftmost matching is what lets the library use its vectorised search.
        matchkind=library.MatchKind.LeftmostFirst,
        implementation=library.Implementation.DFA if dense else None,
    )
    find: Find = automaton.find_matches_as_indexes
    return find


def _place(hit: Hit) -> int:
    return hit[1]


def _one_by_one(literals: Sequence[bytes]) -> Find:
    def find(block: bytes) -> list[Hit]:
        found: list[Hit] = []
        for index, literal in enumerate(literals):
            at = block.find(literal)
            while at >= 0:
                found.append((index, at, at + len(literal)))
                at = block.find(literal, at + STRIDE)
        return sorted(found, key=_place)

    return find


def line_counter(most: int) -> Count:
    """A function that counts the line feeds of a block of so many bytes at most, three times as fast as
    `bytes.count`: all bytes but these differ from those of a block of line feeds."""
    from rapidfuzz.distance import Hamming

    differing = Hamming.distance
    if isinstance(differing, FunctionType):  # built without its C++, it would take minutes
        return lambda block: block.count(b"\n")
    feeds = b"\n" * most

    def count(block: bytes) -> int:
        size = len(block)
        return size - int(differing(block, feeds if size == most else feeds[:size]))

    return count
