"""The answer as Markdown, ready for an issue thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from diagnose.model import DEVICE_FAMILY, Diagnosis, Failure, Fix, Question, RankedCause
from diagnose.paths import of_frame
from diagnose.rendering.labels import LABELS
from diagnose.rendering.words import changed, clean, code, counted, percent
from diagnose.verification.invocation import invocation

_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>#|!~&"})


def render(diagnosis: Diagnosis, *, columns: int = 80, color: bool = False) -> str:
    """The answer as GitHub-flavoured Markdown, on any terminal; text from the log is escaped or fenced."""
    return "\n".join(_lines(diagnosis)) + "\n"


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    labels = LABELS[diagnosis.lang]
    report = diagnosis.report
    name = labels["standard input"] if report.source == "-" else _plain(report.source)
    if report.error is None and diagnosis.verdict == "no-error":
        yield labels["no-error"].format(source=name)
        return
    if report.error is not None:
        yield from _what_failed(diagnosis, report.error, labels)
    if diagnosis.verdict == "failed":
        yield labels["failed"].format(source=name)
        yield ""
    else:
        yield from _why(diagnosis, labels)
    if diagnosis.incomplete:
        pieces = ", ".join(piece.what for piece in diagnosis.incomplete)
        yield _plain(labels["incomplete"].format(pieces=pieces))


def _what_failed(diagnosis: Diagnosis, error: Failure, labels: Mapping[str, str]) -> Iterator[str]:
    report, culprit = diagnosis.report, diagnosis.culprit
    place = f" {labels['in']} {_tick(of_frame(culprit))}" if culprit else ""
    yield f"### {_plain(error.type)}{place}"
    yield ""
    shown = [culprit.code.strip()] if culprit and culprit.code else []
    yield from _fence([*shown, f"{error.type}: {error.message}"], "")
    if report.libraries:
        yield f"{' › '.join(_tick(name) for name in report.libraries)}"
        yield ""
    if report.fallout:
        errors = counted(failure.type for failure in report.fallout)
        yield _plain(labels["fallout"].format(errors=errors))
        yield ""


def _why(diagnosis: Diagnosis, labels: Mapping[str, str]) -> Iterator[str]:
    error = diagnosis.report.error
    assert error is not None
    if error.family != DEVICE_FAMILY:
        yield labels["other"].format(family=error.family or "other")
        yield from ["", *(f"- {text}" for text in diagnosis.advice)] if diagnosis.advice else []
        return
    if diagnosis.verdict == "unknown":
        yield labels["unknown"]
        yield ""
    for number, cause in enumerate(diagnosis.causes, 1):
        yield from _cause(number, cause, diagnosis)
    if diagnosis.questions:
        yield f"#### {labels['decide']}"
        yield ""
    for question in diagnosis.questions:
        yield from _question(question, labels)


def _cause(number: int, cause: RankedCause, diagnosis: Diagnosis) -> Iterator[str]:
    words, live = LABELS[diagnosis.lang], diagnosis.report.live
    yield f"#### {number}. {_plain(cause.title)} ({percent(cause.confidence)}, `{cause.id}`)"
    yield ""
    yield _plain(cause.why)
    yield ""
    for evidence in cause.evidence:
        where = (
            f" ({words['line'].format(line=evidence.line)})" if evidence.line and not live else ""
        )
        yield f"- {_plain(evidence.text)}{where}"
    for match in cause.incidents[:1]:
        yield f"- {words['known']}: [{_plain(match.title)}]({match.url})"
    if cause.evidence or cause.incidents:
        yield ""
    for fix in cause.fixes[:3]:
        yield from _fix(
            fix, words["fix"] if fix is cause.fixes[0] else words["or"], words["example"]
        )
    if number == 1:
        yield f"**{words['verify']}:**"
        yield ""
        yield from _fence([invocation(diagnosis)], "sh")


def _fix(fix: Fix, label: str, example: str) -> Iterator[str]:
    yield f"**{label}:** {_plain(fix.title)}"
    yield ""
    if fix.patch is not None:
        yield from _fence(fix.patch.split("\n")[:-1], "diff")
    elif fix.edit is not None:
        place, *lines = changed(fix.edit)
        yield from _fence([f"# {place}", *lines], "diff")
    elif fix.command is not None:
        yield from _fence(fix.command.splitlines(), "sh")
    elif fix.code is not None and fix.example:
        yield f"{example}:"
        yield ""
        yield from _fence(fix.code.splitlines(), "")
    elif fix.code is not None:
        yield from _fence(fix.code.splitlines(), "diff")


def _question(question: Question, labels: Mapping[str, str]) -> Iterator[str]:
    yield f"**{_plain(question.text)}**"
    yield ""
    if question.code is not None:
        where = question.place and labels["before"].format(place=_tick(question.place))
        if where:
            yield f"{labels['add']} {where}"
            yield ""
        yield from _fence(question.code.splitlines(), "python")
    elif question.command is not None:
        yield from _fence(question.command.splitlines(), "sh")
    for reply in question.replies:
        yield f"- {_plain(reply.text)} → {labels['either'].join(map(_tick, reply.causes))}"
    yield ""


def _fence(lines: list[str], language: str) -> Iterator[str]:
    """A code block whose fence is longer than any run of backticks inside."""
    cleaned = [code(line) for text in lines for line in text.splitlines() or [""]]
    longest = max((len(run) for line in cleaned for run in _ticks(line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}{language}"
    yield from cleaned
    yield fence
    yield ""


def _ticks(line: str) -> list[str]:
    return [run for run in "".join(c if c == "`" else " " for c in line).split() if run]


def _plain(text: str) -> str:
    return clean(text).translate(_SPECIAL)


def _tick(text: str) -> str:
    flat = clean(text).replace("`", "'")
    return f"`{flat}`"
