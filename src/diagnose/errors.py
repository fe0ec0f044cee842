"""What went wrong as a sentence for the user, told apart from a fault of diagnose itself."""

from __future__ import annotations

#: The exit status for bad usage or input.
BAD_INPUT = 2
#: The exit status where a fault of ours left something without an answer.
FAULT = 4


class DiagnoseError(Exception):
    """Something that its user can mend: an input, an output, a case base. The message is a sentence.

    Bulkheads (`diagnose.bulkhead`) let it pass, and the command line says it and ends with `BAD_INPUT`.
    Every other exception that leaves our code is a fault of ours.
    """


def printable(text: str) -> str:
    """A name or a sentence for standard error: what would steer a terminal or cannot be encoded is
    replaced, line feeds and tabs stay."""
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )
