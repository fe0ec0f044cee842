"""Where in a block of a large log something stands that may tell of a failure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnose.model import Marks
from diagnose.parsing.literals import STRIDE, Hit, exact_finder, finder
from diagnose.parsing.marks import EXCEPTION, LONGEST, TRACEBACK

#: Around a part of a literal so many bytes are searched for the literals themselves.
_REACH = 4 * LONGEST + STRIDE  # a character takes up to four bytes
#: Where parts stand closer than this on average, the whole block is.
_CROWDED = 512


class Search:
    """A search for marks: first for what tracebacks are known by and the parts, then, near these, for the
    literals. ``kinds`` tells for each index in a hit of which kind it is: 0 traceback, 1 exception,
    2 wording, from 3 on the rules for lines."""

    def __init__(self, marks: Marks) -> None:
        kinds: list[Sequence[str]] = [TRACEBACK, EXCEPTION, marks.wordings, *marks.rules]
        self.kinds = tuple(kind for kind, texts in enumerate(kinds) for _ in texts)
        literals = [text.encode() for texts in kinds for text in texts]
        self._sure = len(TRACEBACK) + len(EXCEPTION)
        self._coarse = finder([*literals[: self._sure], *(part.encode() for part in marks.parts)])
        self._exact = exact_finder(literals)
        #: A literal that is cut by a block's end reaches so far beyond it.
        self.seam = max(map(len, literals)) - 1

    def hits(self, block: bytes) -> list[Hit]:
        """What stands in the block, in its order. What stands close together may be told once or twice."""
        found = self._coarse(block)
        sure = [hit for hit in found if hit[0] < self._sure]
        if len(sure) == len(found):
            return found
        for start, end in self._spans([hit for hit in found if hit[0] >= self._sure], len(block)):
            near = block if end - start == len(block) else block[start:end]
            sure += [(index, at + start, to + start) for index, at, to in self._exact(near)]
        return sorted(sure, key=lambda hit: hit[1])

    def _spans(self, parts: Sequence[Hit], size: int) -> Iterator[tuple[int, int]]:
        """The surroundings of parts, none twice."""
        if len(parts) * _CROWDED > size:
            yield 0, size
            return
        start = end = 0
        for _, at, _ in parts:
            if at - _REACH > end:
                if end:
                    yield start, end
                start = at - _REACH
            end = min(size, at + _REACH)
        yield start, end
