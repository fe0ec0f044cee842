"""A failure that is only told of: from the lines of an issue or a chat to a `Description`.

Somebody who describes a failure also says what he does not use, what he has tried in vain and what one
should do: none of that holds of the failing program, and none of it is a statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from diagnose.model import (
    DEVICE_FAMILY,
    Description,
    Failure,
    Knowledge,
    Line,
    Report,
    Role,
    Sentence,
    Words,
)
from diagnose.naming.descriptions import words_of
from diagnose.parsing.families import Families
from diagnose.parsing.grammar import forms_of
from diagnose.parsing.lines import Peeled
from diagnose.parsing.origin import named

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
_WORD = re.compile(r"[A-Za-z0-9_]+|[\u3400-\u9fff]{2}")
_CHINESE = re.compile(r"[\u3400-\u9fff]{2}")
_LEAST = 8
#: Of a shorter text, and of its words, the least: "The loss failed when the images were on a GPU."
_LEAST_OF_SHORT, _PART = 4, 0.2
#: And at least so many to a line: a log says "saved the model's state" now and then, and is not told.
_TO_A_LINE = 1.0
#: A sentence that holds so long a part of a message quotes it, and its English is no sign of a writer.
_QUOTED = 20
#: How much the words of a sentence count. Who says why it failed knows more than who says how it looked.
_COUNTS = {Role.CAUSE: 2.0, Role.FIX: 1.5, Role.SYMPTOM: 1.0, Role.ADVICE: 0.7}
#: A text that lacks one of them reports no device failure, whatever else it says.
_BOTH = frozenset({"placement", "outcome"})
#: How much single words count beside what is asserted, what another family's words take away, and what is
#: enough, in log-odds: fitted with the forms of kb/notions.toml, as is said there.
_WORDS, _OTHER, _ENOUGH = 2.0, 2.7, 1.1
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
    reread: Callable[[Sequence[Peeled], str, frozenset[str]], Report],
) -> Report:
    """The report of an input without a traceback, with what somebody says in it about a device failure.

    Args:
        report: what was found so far: a message, or nothing.
        lines: the input's.
        knowledge: by what a message, a denial, an attempt and advice are known, and what people assert.
        families: what other failures are known by.
        reread: reads lines without a traceback once more, and what a message may say that is a device
            error in this text alone.
    """
    told = describe(lines, knowledge)
    if told is None:
        return report
    stated = "\n".join(one.text for one in told.stated)
    usual = knowledge.descriptions().words
    libraries = named(stated, knowledge.libraries, knowledge.words, usual)
    # Where CUDA is not for the machine, or the cpu was chosen, the program names a device itself.
    elsewhere = knowledge.words.without_cuda.search(told.text) is not None
    if elsewhere and report.mismatch is not None and "no-gpu" in report.mismatch.says:
        placed = report.error and report.error._replace(family=DEVICE_FAMILY)
        report = report._replace(error=placed)
    if report.error is None:
        sentences = [Peeled(line.number, line.text) for line in told.stated]
        also = frozenset({"no-gpu"}) if elsewhere else frozenset[str]()
        found = reread(sentences, report.source, also)  # a message that was broken over lines
        if found.mismatch is not None:
            report = found
        elif is_device_failure(told, knowledge, other=families.of_error(None, told.text)[1]):
            shown = telling(told, knowledge)
            error = Failure("", shown.text, DEVICE_FAMILY, shown.number)
            report = report._replace(error=error)
    report = report._replace(libraries=libraries)
    if report.error is None or report.error.family != DEVICE_FAMILY:
        return report
    return report._replace(description=told, context=())


def describe(lines: Sequence[Peeled], knowledge: Knowledge) -> Description | None:
    """What the lines say, if somebody has written them; None for what only a program prints."""
    read = list(_written(_first(lines), knowledge.words))
    sentences = [Line(at, " ".join(text.split())) for at, text in _sentences(read)]
    quoted = [x for one in knowledge.wordings for x in one.literals if len(x) >= _QUOTED]
    signs = (
        (_CHINESE if any(text in line.text for text in quoted) else _OF_PROSE).findall(line.text)
        for line in sentences
    )
    counted = sum(map(len, signs))
    written = sum(1 for line in read if line.text.strip())
    size = sum(len(_WORD.findall(line.text)) for line in read) if counted < _LEAST else 0
    least = max(_LEAST_OF_SHORT, _PART * size) if size else _LEAST
    if counted < max(least, _TO_A_LINE * written):
        return None
    text = "\n".join(line.text for line in read)
    told = tuple(_told(sentences, knowledge.words))
    forms = (form for one in sentences for form in forms_of(one.text, knowledge.notions))
    asserted = {form.id: form for form in forms}.values()
    says = {topic for form in asserted for topic in form.says}
    counts = sum(form.counts for form in asserted) if says >= _BOTH else float("-inf")
    return Description(text, told, said(told), tuple(_code(_first(lines))), counts)


def said(sentences: Iterable[Sentence]) -> dict[str, float]:
    """The words of sentences, each with how much it counts: by the role of its sentence."""
    found: dict[str, float] = {}
    for one in sentences:
        counts = _COUNTS[one.role]
        for word in words_of(one.text):
            found[word] = max(counts, found.get(word, 0.0))
    return found


def is_device_failure(description: Description, knowledge: Knowledge, *, other: bool) -> bool:
    """Whether a text without an error's message is about misplaced tensors.

    Args:
        description: what it says.
        knowledge: the words of descriptions, by their kind.
        other: whether it says what another family of failures is known by.
    """
    words = knowledge.descriptions().device_failure(description.words)
    return description.asserts + _WORDS * words - _OTHER * other >= _ENOUGH


def telling(description: Description, knowledge: Knowledge) -> Sentence:
    """The sentence that shows the failure best: that which asserts most of it."""
    stated, notions = description.stated or description.sentences, knowledge.notions
    return max(stated, key=lambda one: sum(form.counts for form in forms_of(one.text, notions)))


def _first(lines: Sequence[Peeled]) -> Iterator[Peeled]:
    left = _LONGEST
    for line in lines:
        if left <= 0:
            return
        yield line._replace(text=line.text[:left])
        left -= len(line.text) + 1


def _written(lines: Iterable[Peeled], words: Words) -> Iterator[Peeled]:
    """The lines without those of the site around a text: its menus, counters and lists of other pages."""
    others = False
    for line in lines:
        text = line.text.strip()
        others = (others and not text.endswith(_STOPS)) or bool(
            words.furniture_headings.search(text)
        )
        if not text or not (others or words.furniture.search(text)):
            yield line


def _code(lines: Iterable[Peeled]) -> Iterator[Line]:
    """What stood between fences, which are taken off by now, each with the line that it begins in: prose
    too, which is no Python."""
    apart = groupby(enumerate(lines), key=lambda numbered: numbered[1].number - numbered[0])
    for _, run in apart:
        block = [line for _, line in run]
        yield Line(block[0].number, "\n".join(line.text for line in block))


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


def _told(sentences: Sequence[Line], words: Words) -> Iterator[Sentence]:
    """What the sentences say, each with its role: by the heading of its part, and by its own words.

    What was only tried is left out, and so are clauses that deny.
    """
    part = Role.SYMPTOM
    for number, said in sentences:
        if found := [role for role, known in _headings(words) if known.search(said)]:
            part = found[0]
            continue
        if part is not Role.SYMPTOM and _is_heading(said):
            part = Role.SYMPTOM
        if words.attempts.search(said):
            continue
        role = Role.ADVICE if part is Role.ADVICE else _role(said, words) or part
        clauses = (clause for clause in _CLAUSES.split(said) if not words.denials.search(clause))
        if kept := " ".join(filter(None, clauses)):
            yield Sentence(number, kept, role)


def _headings(words: Words) -> tuple[tuple[Role, re.Pattern[str]], ...]:
    return (
        (Role.ADVICE, words.advice_headings),
        (Role.CAUSE, words.cause_headings),
        (Role.FIX, words.fix_headings),
    )


def _is_heading(said: str) -> bool:
    return _width(said) < _HEADING and not said.endswith(_STOPS) and not _ITEM.match(said)


def _role(said: str, words: Words) -> Role | None:
    """The role of a sentence by its own words; None where they do not tell."""
    if words.advice.search(said):
        return Role.ADVICE
    if words.fixed.search(said):
        return Role.FIX
    return Role.CAUSE if words.reasons.search(said) else None


def _width(text: str) -> int:
    """Columns, near enough: a character of Chinese takes two."""
    return sum(2 if character >= "\u2e80" else 1 for character in text)
