"""The answer as Markdown, ready for an issue thread: the first look open, all else folded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from diagnose.model import Diagnosis, Failure, Fix, Lang, Question
from diagnose.rendering.answer import Answer, ShownCause, answer, labelled
from diagnose.rendering.brief import Brief, Other, brief, reason
from diagnose.rendering.labels import LABELS
from diagnose.rendering.words import changed, clean, code, percent

#: Behind an "@" a space of no width: on GitHub nobody is called by a log.
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>#|!~&"} | {"@": "@\u200b"})


def render(diagnosis: Diagnosis, *, columns: int = 80, color: bool = False) -> str:
    """The answer as GitHub-flavoured Markdown, on any terminal; text from the log is escaped or fenced."""
    return "\n".join(_lines(diagnosis)).rstrip("\n") + "\n"


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    labels = LABELS[diagnosis.lang]
    first, shown = brief(diagnosis), answer(diagnosis, _plain(diagnosis.report.source))
    yield from (f"**{_plain(shown.seen)}**", "") if shown.seen else ()
    if first is not None and diagnosis.report.error is not None:
        yield from _what_failed(diagnosis, diagnosis.report.error, first, shown)
    yield from (shown.ending, "") if shown.ending else ()
    yield from (*(f"- {text}" for text in shown.advice), "") if shown.advice else ()
    if shown.causes and first is not None:
        yield from _first(first, diagnosis.lang) if first.because else _undecided(first, labels)
        yield from _folded(labels["all-of-it"], _everything(shown, labels))
    yield from (_plain(shown.sources), "") if shown.sources else ()
    if shown.incomplete:
        yield _plain(shown.incomplete)


def _what_failed(
    diagnosis: Diagnosis, error: Failure, first: Brief, shown: Answer
) -> Iterator[str]:
    where = f" {LABELS[diagnosis.lang]['in']} {_tick(first.place)}" if first.place else ""
    yield f"### {f'{_plain(error.type)}{where}'.lstrip()}"
    yield ""
    line = [first.code] if first.code else []
    yield from _fence([*line, *([f"{error.type}: {error.message}"] if error.told else [])], "")
    stack = " › ".join(_tick(name) for name in first.stack)
    met = ", ".join(f"{_tick(one.text)}: {_plain(one.device)}" for one in first.operands)
    if facts := [
        part for part in (met or _plain(shown.devices), stack, _plain(shown.ranks)) if part
    ]:
        yield " · ".join(facts)
        yield ""
    for one in shown.operands:
        lives = "; ".join(_tick(line) for line in one.lines)
        yield f"- {_tick(one.name)}: {_plain(one.kind)}, {_plain(one.device)}, {one.shape}; {lives}"
    if shown.operands:
        yield ""
    if shown.fallout:
        yield _plain(shown.fallout)
        yield ""
    yield from (shown.described, "") if shown.described else ()


# --- the first look -------------------------------------------------------------------------------


def _first(first: Brief, lang: Lang) -> Iterator[str]:
    """What to do, why, and what proves it; then a line each of what else it may be."""
    labels = LABELS[lang]
    if not first.decided and first.question is not None:
        yield from _question(first.question, labels)
    if first.do is not None:
        if first.do.lasting:
            yield f"**{labels['do']}:** {_plain(first.do.lasting)}"
            yield ""
        if first.do.remedy:
            yield _plain(labels["remedy"].format(text=first.do.remedy))
            yield ""
        label = labels["stopgap" if first.do.fix.stopgap else "do"]
        yield from _fix(first.do.fix, label, labels["example"])
    yield from _upgrade((first.bug,) if first.bug else (), labels)
    if (because := first.because) is not None:
        yield f"**{labels['because']}:** {_plain(reason(because, lang))}"
        yield ""
    for label, command in (("fix-it", first.fix), ("check-it", first.check)):
        if command:
            yield f"**{labels[label]}:**"
            yield ""
            yield from _fence([command], "sh")
    yield from _others(first.others, labels["else"])
    if first.decided and first.question is not None:
        yield f"**{labels['ask']}:** {_plain(first.question.text)}"
        yield ""
    yield from _known(first, labels)


def _undecided(first: Brief, labels: Mapping[str, str]) -> Iterator[str]:
    """The question that decides, with its answers, and the candidates in a line each."""
    yield from (labels["unsure" if first.question else "unknown"], "")
    if first.question is not None:
        yield from _question(first.question, labels)
    yield from _others(first.others, labels["maybe"])
    yield from _known(first, labels)


def _others(others: tuple[Other, ...], label: str) -> Iterator[str]:
    if others:
        yield f"**{label}:**"
        yield ""
        for one in others:
            yield f"- `{one.id}` {one.sure}, {_plain(one.when or one.title)}"
        yield ""


def _known(first: Brief, labels: Mapping[str, str]) -> Iterator[str]:
    if first.known is not None:
        alike = labels["alike"].format(percent=percent(first.known.similarity))
        yield f"**{labels['known']}:** [{_plain(first.known.title)}]({first.known.url}){alike}"
        yield ""


# --- all of it ------------------------------------------------------------------------------------


def _folded(title: str, lines: Iterator[str]) -> Iterator[str]:
    yield f"<details><summary>{title}</summary>"
    yield ""
    yield from lines
    yield "</details>"
    yield ""


def _everything(shown: Answer, labels: Mapping[str, str]) -> Iterator[str]:
    yield from (shown.unknown, "") if shown.unknown else ()
    for cause in shown.causes:
        yield from _cause(cause, labels)
    if shown.questions:
        yield f"#### {labels['decide']}"
        yield ""
    for question in shown.questions:
        yield from _question(question, labels)
    if shown.nearest:
        yield labels["nearest"]
        yield ""
        yield from (f"- [{_plain(match.title)}]({match.url})" for match in shown.nearest)
        yield ""


def _cause(shown: ShownCause, labels: Mapping[str, str]) -> Iterator[str]:
    cause = shown.cause
    yield f"#### {shown.number}. {_plain(cause.title)} ({shown.sure}, `{cause.id}`)"
    yield ""
    yield _plain(cause.why)
    yield ""
    yield from (f"- {_plain(text)}" for text in shown.evidence)
    for match in shown.incidents:
        yield f"- {labels['known']}: [{_plain(match.title)}]({match.url})"
    if shown.evidence or shown.incidents:
        yield ""
    if shown.rather:
        yield from (f"*{_plain(shown.rather)}*", "")
    for label, fix in labelled(shown.fixes):
        yield from _fix(fix, labels[label], labels["example"])
    yield from _upgrade(shown.bugs, labels)
    if shown.verify is not None:
        yield f"**{labels['verify']}:**"
        yield ""
        yield from _fence([shown.verify], "sh")


def _upgrade(bugs: tuple[str, ...], labels: Mapping[str, str]) -> Iterator[str]:
    for bug in bugs:
        yield f"**{labels['upgrade']}:** {_plain(bug)}"
        yield ""


def _fix(fix: Fix, label: str, example: str) -> Iterator[str]:
    yield f"**{label}:** {_plain(fix.title)}"
    yield ""
    if fix.patch is not None:
        yield from _fence(fix.patch.split("\n")[:-1], "diff")
    elif fix.edit is not None:
        place, lines = changed(fix.edit)
        yield from _fence([f"# {place}", *lines] if place else lines, "diff")
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
