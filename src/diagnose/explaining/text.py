"""The account for a terminal: a section a stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from diagnose.explaining.account import Account, Error, Held, Weighed
from diagnose.fixes import Considered
from diagnose.fixes.edits import EDITS
from diagnose.model import DEVICE_FAMILY
from diagnose.parsing.watching import Taken
from diagnose.paths import of_frame, place
from diagnose.placement.model import Suspect
from diagnose.rendering.words import changed, clean, code, cut, percent, width, wrap

COLUMNS = 100
_NUMBER = 9
#: An input of many processes, or of a loop, has hundreds of errors that say the same.
_MOST_ERRORS = 20
#: A record may carry a whole traceback.
_MOST_LINES = 3


def render(account: Account) -> str:
    """The account as text of `COLUMNS` columns; only code and words that are longer pass them."""
    return "\n".join(_page(account)) + "\n"


def _page(account: Account) -> Iterator[str]:
    diagnosis = account.diagnosis
    error = diagnosis.report.error
    source = "standard input" if diagnosis.report.source == "-" else clean(diagnosis.report.source)
    yield f"{source}: {diagnosis.verdict}"
    yield from _section("Layers taken off", _layers(account.layers))
    yield from _section("Errors", _errors(account.errors))
    if error is not None and error.family != DEVICE_FAMILY:
        yield ""
        yield f"The error is of the family {clean(error.family)}: no cause is ranked."
    if account.causes:
        yield from _section("Facts that hold", _facts(account.facts))
        yield from _section("What adds to the score of each cause", _scores(account.causes))
        if len(account.misplaced) > 1:
            yield from _section("Which operand may be misplaced", _shares(account.misplaced))
        if account.suspects:
            yield from _section("What the files say, likeliest first", _suspects(account.suspects))
        yield from _section("Edits", _edits(account.causes))
    for piece in diagnosis.incomplete:
        yield from ("", f"A fault of diagnose left out {clean(piece.what)}: {clean(piece.fault)}")


def _section(title: str, lines: Iterator[str]) -> Iterator[str]:
    yield ""
    yield title
    yield from lines


def _layers(layers: Sequence[Taken]) -> Iterator[str]:
    if not layers:
        yield "  none: the lines stand as the program printed them"
    for layer in layers:
        count = "1 line" if layer.lines == 1 else f"{layer.lines} lines, the first"
        yield f"  {layer.layer}: {count} at line {layer.number}"
        yield f"    - {cut(code(layer.before), COLUMNS - 6)}"
        for text in layer.after[:_MOST_LINES]:
            yield f"    + {cut(code(text), COLUMNS - 6)}"
        if len(layer.after) > _MOST_LINES:
            yield f"    and {len(layer.after) - _MOST_LINES} more"


def _errors(errors: Sequence[Error]) -> Iterator[str]:
    if not errors:
        yield "  none"
    for error in errors[:_MOST_ERRORS]:
        place = "" if error.line is None else f"line {error.line}"
        lead = "> " if error.against is None else "  "
        process = f"[{clean(error.process)}] " if error.process else ""
        said = clean(f"{error.type}: {error.message}" if error.type else error.message)
        yield f"{lead}{place:<11}{cut(process + said, COLUMNS - 13)}"
        reason = "explained" if error.against is None else error.against
        yield " " * 13 + reason
    if len(errors) > _MOST_ERRORS:
        yield f"  and {len(errors) - _MOST_ERRORS} more"


def _facts(facts: Sequence[Held]) -> Iterator[str]:
    for held in facts:
        line = held.fact.line
        yield f"  {clean(held.fact.id)}" + ("" if line is None else f", line {line}")
        for text in wrap(clean(held.sentence), COLUMNS - 4):
            yield f"    {text}"
        if held.text is not None:
            yield f"    | {cut(clean(held.text), COLUMNS - 6)}"


def _scores(causes: Sequence[Weighed]) -> Iterator[str]:
    """A row a term, a column a cause; what adds to none of them is left out."""
    for number, weighed in enumerate(causes, 1):
        yield f"  {number}  {weighed.scored.cause.id}"
    table = [{(term.kind, term.id): term.value for term in c.scored.terms} for c in causes]
    rows = {  # one row for the priors of all
        (kind, "" if kind == "prior" else name): None for terms in table for kind, name in terms
    }
    label = COLUMNS - _NUMBER * len(causes)
    yield " " * label + "".join(f"{n:>{_NUMBER}}" for n in range(1, len(causes) + 1))
    for kind, name in rows:
        values = [
            terms.get((kind, name or one.scored.cause.id))
            for one, terms in zip(causes, table, strict=True)
        ]
        yield _row(f"{kind} {clean(name)}".rstrip(), label, [_signed(value) for value in values])
    yield _row("score", label, [_signed(one.scored.score) for one in causes])
    yield _row("confidence", label, [percent(one.scored.confidence) for one in causes])


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.2f}"


def _row(name: str, label: int, values: Sequence[str]) -> str:
    shown = f"  {cut(name, label - 3)}"
    space = " " * (label - width(shown))
    return f"{shown}{space}{''.join(f'{value:>{_NUMBER}}' for value in values)}".rstrip()


def _shares(misplaced: Mapping[str, float]) -> Iterator[str]:
    for text, share in misplaced.items():
        yield f"  {percent(share):>4}  {cut(code(text), COLUMNS - 8)}"


def _suspects(suspects: Sequence[Suspect]) -> Iterator[str]:
    for suspect in suspects:
        where = clean(place(suspect.line.file, suspect.line.line))
        yield f"  {suspect.cause}: {clean(suspect.name)}, {where}"
        for step in suspect.steps:
            device = f" on {step.device}" if step.device is not None else ""
            at = f"{place(step.spot.file, step.spot.line)}: {step.spot.code}"
            yield f"    {cut(clean(f'{step.what.value}{device}, {at}'), COLUMNS - 4)}"


def _edits(causes: Sequence[Weighed]) -> Iterator[str]:
    for number, weighed in enumerate(causes, 1):
        yield f"  {number}  {weighed.scored.cause.id}"
        for one in weighed.fixes:
            if one.template.kind in EDITS or one.edit is not None:
                yield from _edit(one)
        others = [
            one.template.kind
            for one in weighed.fixes
            if one.template.kind not in EDITS and one.edit is None
        ]
        if others:
            yield from _hanging(f"edit no line: {', '.join(others)}")


def _edit(one: Considered) -> Iterator[str]:
    if one.edit is not None:
        place, lines = changed(one.edit)
        yield f"     {one.template.kind}: {place}"
        yield from (f"       {line}" for line in lines)
        return
    where = f" at {clean(of_frame(one.place.frame))}" if one.place is not None else ""
    said = f"{one.template.kind}: no edit{where}: {clean(str(one.made))}"
    yield from _hanging(said)


def _hanging(text: str) -> Iterator[str]:
    first, *others = wrap(text, COLUMNS - 7)
    yield f"     {first}"
    yield from (f"       {line}" for line in others)
