"""What went wrong as a sentence for the user, told apart from an internal error."""

from __future__ import annotations

#: Exit statuses of every command but the answer's contract (docs/json.md) and what a script itself ends
#: with: 0 is for nothing wrong, and this one for something found: a diagnosis, a finding, FAIL, no proof.
FOUND = 1
#: Bad usage or input.
BAD_INPUT = 2
#: Nothing to read, or no error in it.
NOTHING = 3
#: An internal error left something without an answer.
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
