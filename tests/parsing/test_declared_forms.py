"""What the printed forms declare of themselves, held against how they are recorded (forms, tests/traces)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import pytest

from diagnose.parsing import tracebacks
from diagnose.parsing.lines import Peeled
from diagnose.parsing.marks import EXCEPTION, TRACEBACK
from diagnose.parsing.peeling import peel
from diagnose.parsing.tracebacks.form import Form, State
from diagnose.parsing.tracebacks.reader import FORMS, recognised

TESTS = Path(__file__).parents[1]
RECORDED = sorted((TESTS / "parsing" / "forms").glob("*.txt"))
TRACES = sorted((TESTS / "traces").glob("**/*.txt"))
#: What no recording holds.
OTHERS = {
    "announced": "Exception has occurred: RuntimeError\nExpected all tensors on one device\n",
    "mentioned": "2026-01-01 worker died: [RuntimeError: it failed] and left\n",
    "loose": 'File "/app/net.py", line 12 in forward\n    x + y\nRuntimeError: it failed\n',
}


def peeled(text: str) -> Sequence[Peeled]:
    return peel([Peeled(number, line) for number, line in enumerate(text.splitlines(), 1)])


def walk(text: str) -> Iterator[tuple[Form, str]]:
    """The forms that read a text, each with the line that begins what it read."""
    lines = peeled(text)
    state = State()
    while state.here < len(lines):
        form, (_, after) = recognised(lines, state)
        line = lines[state.here].text
        if form is None and line.strip():
            knowing = [one.name for one in FORMS if one.read(lines, state) is not None]
            assert not knowing, f"{knowing}: {line!r} holds none of the declared probes"
        elif form is not None:
            yield form, line
        assert after.here > state.here
        state = after


def holds(text: str, declared: Sequence[str]) -> bool:
    return any(one in f"\n{text}" for one in declared)


@pytest.mark.parametrize("path", [*RECORDED, *TRACES], ids=lambda path: path.stem)
def test_each_line_that_a_form_reads_holds_what_it_declares(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    whole = "\n".join(line.text for line in peeled(text))
    for form, line in walk(text):
        assert holds(line, form.probes), (form.name, line)
        assert not form.marks or holds(whole, (*form.marks, *form.common)), form.name
    assert holds(text, (*TRACEBACK, *EXCEPTION)), "a large log would not be searched for it"


def test_each_form_is_recorded() -> None:
    texts = [path.read_text(encoding="utf-8") for path in RECORDED] + list(OTHERS.values())
    seen = {form.name for text in texts for form, _ in walk(text)}
    assert seen == {form.name for form in FORMS}


def test_what_is_declared_is_read_and_the_other_way_round() -> None:
    folder = Path(tracebacks.__file__).parent
    modules = [import_module(f"{tracebacks.__name__}.{path.stem}") for path in folder.glob("*.py")]
    declared = {
        value.name: value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Form)
    }
    assert declared == {form.name: form for form in FORMS}
    assert len(declared) == len(FORMS)
    texts = {mark for form in FORMS for mark in (*form.marks, *form.common)}
    assert texts <= {*TRACEBACK, *EXCEPTION}
