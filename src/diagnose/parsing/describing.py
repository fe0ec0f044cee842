"""A failure that is only told of: from the lines of an issue or a chat to a `Description`.

Somebody who describes a failure also says what he does not use, what he has tried in vain and what one
should do: none of that holds of the failing program, and none of it is a statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from diagnose.model import DEVICE_FAMILY, Description, Failure, Knowledge, Line, Report, Words
from diagnose.parsing.families import Families
from diagnose.parsing.lines import Peeled

#: So much of a text is read, in characters: nobody describes a failure at greater length.
_LONGEST = 12_000
_LONGEST_SENTENCE = 600
#: A line that is at least as wide, in columns, goes on in the next one.
_WRAPPED = 60
#: A line that is less wide and no sentence is a heading.
_HEADING = 40
#: What a text is known by that people wrote: words that logs and code have few of, and Chinese. Of two
#: characters of Chinese one is counted.
_OF_PROSE = re.compile(
    r"\b(?:i|my|me|we|our|you|it|its|the|a|an|is|are|was|were|be|has|have|and|but|or|if|when|then|so|that|this|which|what"
    r"|of|on|in|at|to|as|by|from|with|only|also|not|does|do|same|there|because|why|after|before)\b"
    r"|[\u3400-\u9fff]{2}",
    re.IGNORECASE,
)
_CHINESE = re.compile(r"[\u3400-\u9fff]{2}")
_LEAST = 8
#: And at least so many to a line: a log says "saved the model's state" now and then, and is not told.
_TO_A_LINE = 1.0
#: A sentence that holds so long a part of a message quotes it, and its English is no sign of a writer.
_QUOTED = 20
_ENDS = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=\S)|(?<=[。！？；])|(?<=\S)\s+(?=[-*•] )")
_CLAUSES = re.compile(
    r"(?<=[,;，；：])\s*|\s+(?=\b(?:but|whereas|while|although|though)\b)|(?=但是?|然而|不过)"
)
_ITEM = re.compile(r"\s*(?:[-*•>#]|\d{1,2}[.、)])")
_STOPS = tuple(".!?:。！？：；")


def described(
    report: Report,
    lines: Sequence[Peeled],
    knowledge: Knowledge,
    families: Families,
    reread: Callable[[Sequence[Peeled], str], Report],
) -> Report:
    """The report of an input without a traceback, with what somebody says in it about a device failure.

    Args:
        report: what was found so far: a message, or nothing.
        lines: the input's.
        knowledge: by what a message, a denial, an attempt, advice and a complaint are known.
        families: what other failures are known by.
        reread: reads lines without a traceback once more.
    """
    told = describe(lines, knowledge)
    if told is None:
        return report
    if report.error is None:
        sentences = [Peeled(line.number, line.text) for line in told.stated]
        found = reread(sentences, report.source)  # a message that was broken over lines
        complained = complaint(told, knowledge.words) if found.mismatch is None else None
        if found.mismatch is not None:
            report = found
        elif complained is not None and not families.of_error(None, told.text)[1]:
            error = Failure("", complained.text, DEVICE_FAMILY, complained.number)
            report = report._replace(error=error)
    if report.error is None or report.error.family != DEVICE_FAMILY:
        return report
    return report._replace(description=told, context=())


def describe(lines: Sequence[Peeled], knowledge: Knowledge) -> Description | None:
    """What the lines say, if somebody has written them; None for what only a program prints."""
    read = list(_first(lines))
    sentences = [Line(at, " ".join(text.split())) for at, text in _sentences(read)]
    quoted = [x for one in knowledge.wordings for x in one.literals if len(x) >= _QUOTED]
    told = (
        (_CHINESE if any(text in line.text for text in quoted) else _OF_PROSE).findall(line.text)
        for line in sentences
    )
    written = sum(1 for line in read if line.text.strip())
    if sum(map(len, told)) < max(_LEAST, _TO_A_LINE * written):
        return None
    text = "\n".join(line.text for line in read)
    return Description(text, tuple(_stated(sentences, knowledge.words)))


def complaint(description: Description, words: Words) -> Line | None:
    """The sentence by which a text without an error's message tells of misplaced tensors; None where it
    tells of none, or of nothing that went wrong."""
    stated = description.stated
    if not any(words.complaints.search(line.text) for line in stated):
        return None
    return next((line for line in stated if words.misplacements.search(line.text)), None)


def _first(lines: Sequence[Peeled]) -> Iterator[Peeled]:
    left = _LONGEST
    for line in lines:
        if left <= 0:
            return
        yield line._replace(text=line.text[:left])
        left -= len(line.text) + 1


def _sentences(lines: Sequence[Peeled]) -> Iterator[tuple[int, str]]:
    """The sentences with the line that each begins in; what a wide line leaves open goes on in the next."""
    at, text = 0, ""
    for place, line in enumerate(lines, 1):
        following = lines[place] if place < len(lines) else None
        at, text = (at, f"{text}\n{line.text}") if text else (line.number, line.text)
        more = following is not None and following.text.strip() and not _ITEM.match(following.text)
        if more and _width(line.text) >= _WRAPPED and not line.text.rstrip().endswith(_STOPS):
            continue
        number = at
        for piece in _ENDS.split(text):
            if piece.strip():
                yield number, piece[:_LONGEST_SENTENCE]
            number += piece.count("\n")
        text = ""


def _stated(sentences: Sequence[Line], words: Words) -> Iterator[Line]:
    """What is said to be so: no part with advice, no attempt, no clause that denies."""
    advised = False
    for number, said in sentences:
        if words.advice_headings.search(said):
            advised = True
            continue
        if (
            advised
            and _width(said) < _HEADING
            and not said.endswith(_STOPS)
            and not _ITEM.match(said)
        ):
            advised = False
        if advised or words.advice.search(said) or words.attempts.search(said):
            continue
        clauses = (clause for clause in _CLAUSES.split(said) if not words.denials.search(clause))
        if kept := " ".join(filter(None, clauses)):
            yield Line(number, kept)


def _width(text: str) -> int:
    """Columns, near enough: a character of Chinese takes two."""
    return sum(2 if character >= "\u2e80" else 1 for character in text)
