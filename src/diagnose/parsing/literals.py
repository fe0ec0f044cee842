"""Many literals searched for in a block, and its line feeds counted, with the processor's vector units.

`ahocorasick_rs` searches faster than grep as long as the literals are few. Where it cannot be imported,
`bytes.find` does the same, one literal after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType

#: Where literals crowd, `bytes.find` goes on after so many bytes.
STRIDE = 256
#: So many literals the library's vectorised search takes (Teddy, in memory of Intel's Hyperscan), and as
#: how many sets it looks for them: of each set the first letters at once, so that a set whose literals
#: begin in many ways seems to be everywhere. It counts the letters that all literals have, up to four.
_A_PASS, _FEW = 64, 32
_SETS, _SETS_OF_FEW = 16, 8
_SHORT, _LETTERS = 4, 3

#: (index of the literal, where it begins, where it ends), as the library tells it.
Hit = tuple[int, int, int]
Find = Callable[[bytes], list[Hit]]
Count = Callable[[bytes], int]


def finder(literals: Sequence[bytes]) -> Find:
    """A function that tells where a few dozen literals stand in a block, in their order. Of those that
    overlap perhaps one is told."""
    passes = [(group, _automaton([literals[at] for at in group])) for group in _passes(literals)]
    if not all(search for _, search in passes):
        return _one_by_one(literals)

    def find(block: bytes) -> list[Hit]:
        found: list[Hit] = []
        for group, search in passes:
            if search is not None and (hits := search(block)):
                found += [(group[index], start, end) for index, start, end in hits]
        return sorted(found, key=_place) if found else found

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


def _passes(literals: Sequence[bytes]) -> list[list[int]]:
    """The literals' indices, pass by pass, those of short ones by themselves."""
    short = [at for at, literal in enumerate(literals) if len(literal) < _SHORT]
    rest = [at for at, literal in enumerate(literals) if len(literal) >= _SHORT]
    rest.sort(key=lambda at: _look(literals[at]))
    passes = [short, *(rest[start : start + _A_PASS] for start in range(0, len(rest), _A_PASS))]
    return [_dealt(group) for group in passes if group]


def _look(literal: bytes) -> tuple[list[int], bytes]:
    """What the search distinguishes first letters by: halves of bytes, of which the upper ones tell small
    letters, capitals and signs apart."""
    return [letter >> 4 for letter in literal[:_LETTERS]], literal


def _dealt(group: Sequence[int]) -> list[int]:
    """In an order that brings neighbours into one set: the library deals them out to the sets in turn."""
    sets = _SETS if len(group) > _FEW else _SETS_OF_FEW
    least, more = divmod(len(group), sets)
    hands: list[Sequence[int]] = []
    start = 0
    for hand in range(sets):
        size = least + (hand < more)
        hands.append(group[start : start + size])
        start += size
    return [hand[turn] for turn in range(least + 1) for hand in hands if turn < len(hand)]


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
