"""``diagnose --ask``: the questions of an answer, put on the terminal until a cause is sure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from diagnose.errors import DiagnoseError
from diagnose.model import Diagnosis, Question
from diagnose.outputs import is_held, is_terminal
from diagnose.ranking.questions import UNKNOWN, Answers
from diagnose.rendering.labels import LABELS
from diagnose.rendering.words import clean, code, wrap

_TERMINAL = "/dev/tty"
_COLUMNS = 80


class NoTerminalError(DiagnoseError):
    """There is nobody to ask; the message is a sentence."""


def settled(diagnosis: Diagnosis, again: Callable[[Answers], Diagnosis]) -> Diagnosis:
    """The answer when its questions are answered, as far as somebody does.

    Args:
        diagnosis: an answer with questions or without.
        again: the answer to the same input, given what was answered so far.

    Raises:
        NoTerminalError: there are questions, and no terminal.
    """
    if not diagnosis.questions:
        return diagnosis
    answers: dict[str, int] = {}
    with _terminal() as (reader, writer):
        while diagnosis.questions:
            question = diagnosis.questions[0]
            writer.write(_put(question, diagnosis))
            number = _read(reader, writer, len(question.replies), diagnosis)
            if number is None:
                break
            answers[question.id] = number
            diagnosis = again(answers)
        writer.write("\n")
    return diagnosis


def _put(question: Question, diagnosis: Diagnosis) -> str:
    labels = LABELS[diagnosis.lang]
    lines = ["", *wrap(clean(question.text), _COLUMNS)]
    if question.code is not None:
        if question.place is not None:
            lines.append(
                f"   {labels['add']} {labels['before'].format(place=clean(question.place))}"
            )
        lines += [f"   {code(line)}" for line in question.code.splitlines()]
    elif question.command is not None:
        lines.append(f"   $ {code(question.command)}")
    for number, reply in enumerate(question.replies, 1):
        first, *others = wrap(clean(reply.text), _COLUMNS - 4) or [""]
        lines += [f" {number}  {first}", *(f"    {line}" for line in others)]
    return "\n".join(lines) + "\n"


def _read(reader: TextIO, writer: TextIO, replies: int, diagnosis: Diagnosis) -> int | None:
    """Which reply was chosen, from 0; `UNKNOWN` for an empty line, None where nobody answers any more."""
    while True:
        writer.write(LABELS[diagnosis.lang]["choose"].format(last=replies))
        writer.flush()
        line = reader.readline()
        if not line:
            return None
        said = line.strip()
        if not said:
            return UNKNOWN
        if said.isascii() and said.isdecimal() and len(said) < 3 and 1 <= int(said) <= replies:
            return int(said) - 1


@contextmanager
def _terminal() -> Iterator[tuple[TextIO, TextIO]]:
    """Where to ask: standard input and error where that is a terminal; it may be the log, which leaves the
    process's own terminal.

    Raises:
        NoTerminalError: there is none, or a coding agent holds it.
    """
    if is_terminal(sys.stdin):
        yield sys.stdin, sys.stderr
        return
    if is_held():
        raise NoTerminalError("--ask needs a person, who answers its questions")
    try:
        reader = open(_TERMINAL, encoding="utf-8", errors="replace")  # noqa: PTH123, SIM115
    except OSError as error:
        raise NoTerminalError("--ask needs a terminal, where its questions are answered") from error
    with reader, open(_TERMINAL, "w", encoding="utf-8") as writer:  # noqa: PTH123
        yield reader, writer
