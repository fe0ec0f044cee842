"""`Place`: a frame with its statement."""

from __future__ import annotations

import ast
from functools import cached_property

from diagnose.model import Frame, Statement
from diagnose.scene import carets, sourceline
from diagnose.scene.meeting import Meeting


class Place:
    """A frame with its statement, as printed or as its file holds it, and what that parses to."""

    def __init__(self, frame: Frame, statement: Statement | None, *, carets: bool) -> None:
        self.frame = frame
        self.statement = statement
        self._carets = carets

    @cached_property
    def line(self) -> sourceline.SourceLine | None:
        """The parsed statement: all of its lines where they were seen, else the line shown."""
        if self.statement is not None:
            whole = sourceline.parse(self.statement.text)
            if whole is not None:
                return whole
        return sourceline.parse(self.frame.code)

    @cached_property
    def part(self) -> ast.AST | None:
        """The operation of the line that failed, by CPython's carets.

        Where other frames have carets and this one has none, they would underline all of the line.
        """
        line = self.line
        if line is None:
            return None
        printed = self.statement.carets if self.statement else None
        if printed is not None:
            return carets.failing(line, printed)
        return carets.outermost(line) if self._carets else None

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """The nodes of the part that failed; of the whole line where it is not known."""
        return carets.inside(self.line, self.part) if self.line is not None else ()

    @property
    def meeting(self) -> Meeting | None:
        """The line, of which nothing is told; None where it cannot be parsed."""
        return Meeting(self.line, self.nodes, self.part) if self.line is not None else None
