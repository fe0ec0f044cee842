"""All of an answer for people on a terminal, or plain in a pipe."""

from __future__ import annotations

from collections.abc import Iterator

from diagnose.model import Diagnosis, Fix, Frame, Question, Reply
from diagnose.paths import of_frame
from diagnose.rendering.answer import ShownCause, answer, labelled
from diagnose.rendering.labels import LABELS
from diagnose.rendering.styles import Paint
from diagnose.rendering.words import changed, clean, code, width, wrap

_INDENT = 3
_LABEL = 9


def render(diagnosis: Diagnosis, *, columns: int = 80, color: bool = False) -> str:
    """The answer as text.

    Args:
        diagnosis: the answer.
        columns: width to fill, at least 40.
        color: whether to add ANSI styles.
    """
    return "\n".join(_Page(diagnosis, max(columns, 40), color).lines()) + "\n"


class _Page:
    """One answer being laid out: the labels of its language, its width and its styles."""

    def __init__(self, diagnosis: Diagnosis, columns: int, color: bool) -> None:
        self.diagnosis = diagnosis
        self.columns = columns
        self.styled = Paint(color)
        self.labels = LABELS[diagnosis.lang]
        self.answer = answer(diagnosis, clean(diagnosis.report.source))

    def lines(self) -> Iterator[str]:
        shown = self.answer
        for line in wrap(clean(shown.seen), self.columns):
            yield self.styled(line, "bold")
        if self.diagnosis.report.error is not None:
            yield from self._what_failed()
            yield from [""] if shown.ending else []
        yield from wrap(shown.ending, self.columns)
        yield from [""] if shown.advice else []
        for text in shown.advice:
            first, *others = wrap(text, self.columns - _INDENT)
            yield f" - {first}"
            yield from (" " * _INDENT + line for line in others)
        if shown.unknown:
            yield from ("", shown.unknown)
        for cause in shown.causes:
            yield ""
            yield from self._cause(cause)
        if shown.questions:
            yield ""
            yield self.styled(self.labels["decide"], "bold")
        for letter, question in zip("abcdefgh", shown.questions, strict=False):
            yield ""
            yield from self._question(letter, question)
        if shown.nearest:
            yield ""
            yield self.labels["nearest"]
            for match in shown.nearest:
                yield f"   {clean(match.title)}  {match.url}"
        if shown.sources:
            yield ""
            yield from (
                self.styled(line, "dim") for line in wrap(clean(shown.sources), self.columns)
            )
        if shown.incomplete:
            yield ""
            yield from wrap(shown.incomplete, self.columns)

    def _what_failed(self) -> Iterator[str]:
        report = self.diagnosis.report
        assert report.error is not None
        # What failed is not always what is to be edited; the fix says where that is.
        site = self.diagnosis.site or self.diagnosis.culprit
        kind = self.styled(clean(report.error.type), "bold", "red")
        where = f"{self.labels['in']} {_place(site)}" if site else ""
        beside = where and width(report.error.type) + 1 + width(where) <= self.columns
        yield f"{kind} {self.styled(where, 'bold')}".lstrip() if beside else kind
        if where and not beside:
            yield f"  {self.styled(where, 'bold')}"
        if site is not None and site.code:
            yield f"    {self.styled(code(site.code).strip(), 'cyan')}"
        for line in wrap(_shortened(report.error.message, 400), self.columns - 4):
            yield f"    {self.styled(line, 'dim')}"
        stack = " > ".join(clean(name) for name in report.libraries)
        parts = (clean(self.answer.devices), stack, self.answer.ranks)
        facts = "    ".join(part for part in parts if part)
        yield from (f"    {line}" for line in wrap(facts, self.columns - 4))
        yield from self._operands()
        told = wrap(
            f"{clean(self.answer.fallout)} {self.answer.described}".strip(), self.columns - 4
        )
        yield from (f"    {self.styled(line, 'dim')}" for line in told)

    def _operands(self) -> Iterator[str]:
        """What met, as a table: name, device, sizes; below each the lines of its life."""
        shown = self.answer.operands
        names = [code(one.name) for one in shown]
        wide = max(map(width, names), default=0)
        for one, name in zip(shown, names, strict=True):
            gap = " " * (wide - width(name))
            kind = f"  {one.kind}" if one.kind != one.name else ""
            head = f"{self.styled(name, 'bold')}{gap}  {one.device:8}{one.shape:>10}{kind}"
            yield f"    {head}".rstrip()
            for line in one.lines:
                told, room = code(line), self.columns - 6
                told = told if width(told) <= room else told[: room - 1] + "…"
                yield f"      {self.styled(told, 'dim')}"

    def _cause(self, shown: ShownCause) -> Iterator[str]:
        cause = shown.cause
        title, tail = f"{shown.number}  {cause.title}", f"{cause.id}  {shown.sure:>4}"
        gap = self.columns - width(title) - width(tail)
        head = self.styled(title, "bold")
        if gap >= 2:
            yield f"{head}{' ' * gap}{self.styled(tail, 'yellow')}"
        else:
            yield head
            yield " " * _INDENT + self.styled(tail, "yellow")
        for line in wrap(cause.why, self.columns - _INDENT):
            yield " " * _INDENT + line
        for number, text in enumerate(shown.evidence):
            yield from self._entry("seen", clean(text), first=number == 0)
        for match in shown.incidents:
            alike = self.labels["alike"].format(percent=f"{match.similarity:.0%}")
            yield from self._entry("known", f"{clean(match.title)}{alike}")
            yield " " * (_INDENT + _LABEL) + match.url
        for line in wrap(shown.rather or "", self.columns - _INDENT):
            yield " " * _INDENT + self.styled(line, "dim")
        for label, fix in labelled(shown.fixes):
            yield from self._fix(label, fix)
        for number, bug in enumerate(shown.bugs):
            yield from self._entry("upgrade", clean(bug), first=number == 0)
        if shown.verify is not None:
            # Not wrapped: it is one line of a shell.
            name = self.labels["verify"]
            lead = self.styled(name, "dim") + " " * (_LABEL - width(name))
            yield " " * _INDENT + lead + code(shown.verify)

    def _fix(self, label: str, fix: Fix) -> Iterator[str]:
        yield from self._entry(label, fix.title)
        indent = " " * (_INDENT + _LABEL)
        if fix.edit is not None:
            place, lines = changed(fix.edit)
            if place:
                yield indent + self.styled(place, "dim")
            yield from (indent + self.styled.changed(line) for line in lines)
        elif fix.command is not None:
            yield from (f"{indent}$ {code(line)}" for line in fix.command.splitlines())
        elif fix.code is not None and fix.example:
            yield indent + self.styled(self.labels["example"], "dim")
            yield from (indent + self.styled(code(line), "dim") for line in fix.code.splitlines())
        elif fix.code is not None:
            yield from (indent + self.styled.changed(code(line)) for line in fix.code.splitlines())

    def _question(self, letter: str, question: Question) -> Iterator[str]:
        lines = wrap(clean(question.text), self.columns - _INDENT)
        for position, line in enumerate(lines):
            yield f"{letter if position == 0 else ' '}  {line}"
        indent = " " * (_INDENT + _LABEL)
        if question.code is not None:
            where = question.place and self.labels["before"].format(place=clean(question.place))
            if where:
                yield from self._entry("add", where)
            for position, line in enumerate(question.code.splitlines()):
                label = self.labels["add"] if position == 0 and not where else ""
                lead = " " * _INDENT + self.styled(label, "dim") + " " * (_LABEL - width(label))
                yield lead + self.styled(code(line), "cyan")
        elif question.command is not None:
            yield from self._entry("run", "$ " + code(question.command))
        for reply in question.replies:
            yield from self._reply(reply, indent)

    def _reply(self, reply: Reply, indent: str) -> Iterator[str]:
        """An answer and the causes that it points to, which stay together."""
        *lines, last = wrap(clean(reply.text), self.columns - len(indent) - 2) or [""]
        yield from (
            f"{indent}{'  ' if number else '- '}{line}" for number, line in enumerate(lines)
        )
        causes = f"→ {self.labels['either'].join(map(clean, reply.causes))}"
        lead = "  " if lines else "- "
        shown = self.styled(causes, "yellow")
        if len(indent) + 2 + width(last) + 1 + width(causes) <= self.columns:
            yield f"{indent}{lead}{last} {shown}"
        else:
            yield f"{indent}{lead}{last}"
            yield f"{indent}  {shown}"

    def _entry(self, label: str, text: str, *, first: bool = True) -> Iterator[str]:
        name = self.labels[label] if first else ""
        if width(name) >= _LABEL:
            yield " " * _INDENT + self.styled(name, "dim")
            name = ""
        space = " " * (_LABEL - width(name))
        lines = wrap(text, self.columns - _INDENT - _LABEL)
        for position, line in enumerate(lines):
            lead = self.styled(name, "dim") + space if position == 0 else " " * _LABEL
            yield " " * _INDENT + lead + line


def _place(frame: Frame) -> str:
    """The place and the function, where a notebook's cell has one."""
    place, function = clean(of_frame(frame)), clean(frame.function or "")
    return place if function in ("", "<module>") else ", ".join(filter(None, (place, function)))


def _shortened(text: str, limit: int) -> str:
    flat = clean(text)
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"
