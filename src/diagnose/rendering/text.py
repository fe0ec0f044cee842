"""The first look at a failure on a terminal, or plain in a pipe: ten to fourteen lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from diagnose.model import Diagnosis, Question, Reply, indentation
from diagnose.rendering.answer import answer, unused_line
from diagnose.rendering.brief import Because, Brief, Change, Do, Other, brief, reason
from diagnose.rendering.labels import LABELS
from diagnose.rendering.styles import Paint
from diagnose.rendering.words import clean, code, cut, middle, percent, width, wrap

_LABEL = 9
_INDENT = " " * _LABEL
_MOST_OPERANDS = 3
#: Lines of an edit, of an example and of a sentence; the rest stands in the full answer.
_MOST_CHANGED, _MOST_EXAMPLE, _MOST_WRAPPED = 12, 4, 2
_LONGEST_OPERAND = 32
#: So many columns of a long line are left of it beside the devices.
_LEAST_CODE = 48


def render(
    diagnosis: Diagnosis, *, columns: int = 80, color: bool = False, links: bool = False
) -> str:
    """The first look as text; what is no device-placement failure, or none at all, in full.

    Args:
        diagnosis: the answer.
        columns: width to fill, at least 40. Edits and commands are never shortened, for they are copied.
        color: whether to add ANSI styles.
        links: whether to make the place of the edit, where its file is there, and the incident links.
    """
    shown = brief(diagnosis)
    if shown is None or (shown.because is None and not shown.others):
        from diagnose.rendering import full  # which most answers do without

        return full.render(diagnosis, columns=columns, color=color)
    return "\n".join(_Page(diagnosis, shown, max(columns, 40), Paint(color, links)).lines()) + "\n"


class _Page:
    """One first look being laid out: the labels of its language, its width and its styles."""

    def __init__(self, diagnosis: Diagnosis, shown: Brief, columns: int, paint: Paint) -> None:
        self.diagnosis = diagnosis
        self.shown = shown
        self.columns = columns
        self.paint = paint
        self.labels = LABELS[diagnosis.lang]
        self.more = answer(diagnosis, clean(diagnosis.report.source))

    def lines(self) -> Iterator[str]:
        shown, more = self.shown, self.more
        for line in wrap(clean(more.seen), self.columns):
            yield self.paint(line, "bold")
        yield from self._head()
        yield from self._operands()
        if more.fallout:
            yield f"    {self.paint(cut(clean(more.fallout), self.columns - 4), 'dim')}"
        for line in wrap(more.described, self.columns - 4):
            yield f"    {self.paint(line, 'dim')}"
        yield ""
        if shown.because is None:
            yield from self._undecided()
        elif not shown.decided and shown.question is not None:
            yield from self._question(shown.question)
        if shown.do is not None:
            yield from self._do(shown.do)
        if shown.bug:
            yield from self._entry("upgrade", *wrap(clean(shown.bug), self.columns - _LABEL))
        if shown.because is not None:
            yield from self._because(shown.because)
            if shown.fix:
                yield from self._entry("fix-it", self._fix())
            if shown.check:
                yield from self._entry("check-it", code(shown.check))
            yield from self._others("else", shown.others)
        yield from self._known()
        yield from self._more()
        if unused := unused_line(self.diagnosis):
            yield self.paint(cut(clean(unused), self.columns), "dim")
        yield from wrap(more.incomplete, self.columns)

    # --- what failed ------------------------------------------------------------------------------

    def _head(self) -> Iterator[str]:
        """The error's class, where it was raised, and through which libraries; then the line."""
        shown = self.shown
        kind, where = clean(shown.type), f"  {clean(shown.place)}" if shown.place else ""
        if width(kind + where) > self.columns:
            kind = kind.rpartition(".")[2]  # the module of an exception's class tells least
        function = f" {self.labels['in']} {clean(shown.function)}" if shown.function else ""
        if width(kind + where + function) <= self.columns:
            where += function
        stack = self._stack(self.columns - width(kind) - width(where) - 2)
        head = self.paint(kind, "bold", "red") + self.paint(where, "bold")
        gap = " " * max(2, self.columns - width(kind) - width(where) - width(stack))
        yield head + (gap + self.paint(stack, "dim") if stack else "")
        yield from self._line()

    def _stack(self, room: int) -> str:
        """The libraries that the call went through; of many the outermost and the innermost."""
        names = [clean(name) for name in self.shown.stack]
        whole = " > ".join(names)
        ends = " > ".join([names[0], "…", names[-1]]) if len(names) > 2 else whole
        return next((stack for stack in (whole, ends) if width(stack) <= room), "")

    def _line(self) -> Iterator[str]:
        """The line that failed, with what met there beside it where there is room, else below."""
        shown, room = self.shown, self.columns - 4
        line = code(shown.code)
        met = "   ".join(
            f"{middle(code(one.text), _LONGEST_OPERAND)}: {clean(one.device)}"
            for one in shown.operands[:_MOST_OPERANDS]
        )
        told = "   ".join(part for part in (met or clean(shown.devices), self.more.ranks) if part)
        beside = room - width(told) - 3
        if line and told and beside >= min(width(line), _LEAST_CODE):
            line = middle(line, beside)
            yield f"    {self.paint(line, 'cyan')}{' ' * (room - width(line) - width(told))}{told}"
            return
        if line:
            yield f"    {self.paint(middle(line, room), 'cyan')}"
        if told:
            yield f"    {cut(told, room)}"

    def _operands(self) -> Iterator[str]:
        """What a recorder saw of the operands, a row each: name, device, sizes, the line that made it."""
        shown = self.more.operands[:_MOST_OPERANDS]
        names = [middle(code(one.name), _LONGEST_OPERAND) for one in shown]
        wide = max(map(width, names), default=0)
        for one, name in zip(shown, names, strict=True):
            gap = " " * (wide - width(name))
            told = code(one.lines[0]) if one.lines else one.kind
            rest = f"{gap}  {clean(one.device):8}{one.shape:>8}  {told}".rstrip()
            rest = cut(rest, self.columns - 4 - width(name))
            yield f"    {self.paint(name, 'bold')}{rest}"

    # --- what to do, and why ----------------------------------------------------------------------

    def _do(self, do: Do) -> Iterator[str]:
        fix = do.fix
        if do.changes and fix.edit is not None:
            if do.lasting:
                yield from self._entry("do", *self._wrapped(do.lasting), style="green")
            label = "stopgap" if fix.stopgap else "do"
            if not do.changes[0].place:  # a frame without its file's name
                yield from self._entry(label, *self._wrapped(fix.title), style="green")
                label = ""
            yield from self._changes(label, fix.edit.file, do.changes)
            return
        if do.remedy:  # it is about the program at hand: no example is nearer
            said = self.labels["remedy"].format(text=code(do.remedy))
            yield from self._entry("do", *self._wrapped(said), style="green")
            yield from self._entry("", *self._wrapped(fix.title), style="green")
            return
        example: list[str] = []
        if fix.code is not None and fix.example:
            example = [code(line) for line in fix.code.splitlines()]
        shown = 0 < len(example) <= _MOST_EXAMPLE
        said = self.labels["for-example"] if shown else ""
        yield from self._entry("do", *self._wrapped(fix.title, said), style="green")
        if fix.command is not None:
            yield from (f"{_INDENT}$ {code(line)}" for line in fix.command.splitlines())
        elif shown:
            yield from (_INDENT + self.paint(line, "dim") for line in example)
        elif fix.code is not None and not fix.example:
            yield from (_INDENT + self.paint.changed(code(line)) for line in fix.code.splitlines())

    def _changes(self, label: str, file: str, changes: tuple[Change, ...]) -> Iterator[str]:
        left = sum(map(len, map(_marked, changes)))
        shown = 0
        for number, change in enumerate(changes):
            lines = _marked(change)
            if number and shown + len(lines) > _MOST_CHANGED:
                yield _INDENT + self.labels["and-lines"].format(count=left - shown)
                return
            shown += len(lines)
            place = self.paint.link(clean(change.place), file)
            if number:
                yield _INDENT + self.paint(place, "dim")
            elif label:
                yield from self._entry(label, place, style="green")
            yield from (_INDENT + self.paint.changed(code(line)) for line in lines)

    def _fix(self) -> str:
        """The command, with a shell's comment that it needs no GPU where there is room."""
        command, said = code(self.shown.fix), self.labels["no-gpu"]
        if width(command) + width(said) + _LABEL + 3 <= self.columns:
            return f"{command}   {self.paint(said, 'dim')}"
        return command

    def _because(self, because: Because) -> Iterator[str]:
        """The cause and the fact; of both the fact alone where they take too much room and it says both."""
        told, at = clean(reason(because, self.diagnosis.lang)), ""
        if because.line is not None and not self.diagnosis.report.live:
            at = self.labels["at-line"].format(line=because.line)
        if because.followed and len(wrap(told, self.columns - _LABEL)) > _MOST_WRAPPED:
            sure = self.labels["sure"].format(sure=because.sure).strip()
            first, *rest = self._wrapped(clean(because.fact), sure)
        else:
            first, *rest = self._wrapped(told, at)
        if first.startswith(because.title):
            first = self.paint(because.title, "bold") + first.removeprefix(because.title)
        yield from self._entry("because", first, *rest)

    def _others(self, label: str, others: Iterable[Other]) -> Iterator[str]:
        """A line a cause: its id, how sure it is, what would make it that one."""
        for number, other in enumerate(others):
            told = f"{clean(other.id)} {other.sure}"
            room = self.columns - _LABEL - width(told) - 2
            when = cut(other.when or other.title, room)
            text = f"{self.paint(clean(other.id), 'yellow')} {other.sure}  {when}"
            yield from self._entry(label if number == 0 else "", text)

    def _undecided(self) -> Iterator[str]:
        """Where no cause is sure: the question that decides, with its answers, then the candidates."""
        question = self.shown.question
        yield from wrap(self.labels["unsure" if question else "unknown"], self.columns)
        if question is not None:
            yield from self._question(question)
        yield from self._others("maybe", self.shown.others)

    def _question(self, question: Question) -> Iterator[str]:
        yield from self._entry("ask", *self._wrapped(clean(question.text)))
        if question.code is not None:
            yield from (
                _INDENT + self.paint(code(line), "cyan") for line in question.code.splitlines()
            )
        elif question.command is not None:
            yield f"{_INDENT}$ {code(question.command)}"
        for reply in question.replies:
            yield f"{_INDENT}- {self._reply(reply)}"

    def _reply(self, reply: Reply) -> str:
        """What a person may find, and the causes that it points to, as far as there is room for them."""
        text, room = clean(reply.text), self.columns - _LABEL - 2
        for causes in (reply.causes, reply.causes[:1]):
            pointed = f"→ {self.labels['either'].join(map(clean, causes))}"
            if width(text) + 1 + width(pointed) <= room:
                return f"{text} {self.paint(pointed, 'yellow')}"
        return cut(text, room)

    # --- where there is more ----------------------------------------------------------------------

    def _known(self) -> Iterator[str]:
        known = self.shown.known
        if known is not None:
            alike = self.labels["alike"].format(percent=percent(known.similarity))
            lines = wrap(f"{clean(known.title)}{alike}", self.columns - _LABEL)
            if width(lines[-1]) + width(known.url) + 2 <= self.columns - _LABEL:
                *lines, last = lines
                lines.append(f"{last}  {known.url}")
            else:
                lines.append(known.url)
            *above, last = lines
            yield from self._entry("known", *above, self.paint.link(last, known.url))

    def _more(self) -> Iterator[str]:
        explain = f"diagnose explain {clean(self.diagnosis.causes[0].id)}"
        again = self.labels["again" if self.shown.question is None else "ask-again"]
        # No command could be given a live exception again, nor a text without a name.
        report = self.diagnosis.report
        yield from self._entry(
            "more", explain + (again if report.source and not report.live else "")
        )

    # --- laying out -------------------------------------------------------------------------------

    def _entry(self, label: str, *lines: str, style: str = "dim") -> Iterator[str]:
        name = self.labels[label] if label else ""
        space = " " * max(1, _LABEL - width(name))
        for number, line in enumerate(lines):
            yield (self.paint(name, style) + space if number == 0 else _INDENT) + line

    def _wrapped(self, text: str, end: str = "") -> list[str]:
        """At most `_MOST_WRAPPED` lines of a sentence, of which the last one ends in ``end``."""
        room = self.columns - _LABEL
        close = end.startswith("（") or text.endswith("。")
        tail = end if close or not end else f" {end}"
        lines = wrap(text, room) or [""]
        if len(lines) > _MOST_WRAPPED:
            kept = lines[_MOST_WRAPPED - 1]
            lines = [*lines[: _MOST_WRAPPED - 1], cut(f"{kept} …", room - width(tail))]
        elif tail and width(lines[-1]) + width(tail) > room and len(lines) < _MOST_WRAPPED:
            return [*lines, end]
        return [*lines[:-1], cut(lines[-1], room - width(tail)) + tail]


def _marked(change: Change) -> list[str]:
    """The lines as a diff marks them, without the white space that all of them begin with."""
    kinds = ((" ", change.above), ("-", change.gone), ("+", change.come))
    marked = [(mark, line) for mark, lines in kinds for line in lines]
    common = min((indentation(line) for _, line in marked if line.strip()), default=0)
    return [f"{mark} {line[common:]}" for mark, line in marked]
