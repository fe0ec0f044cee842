"""What the layers declare of themselves, held against what comes off the recorded forms."""

from __future__ import annotations

import json
from collections import Counter
from importlib import import_module
from pathlib import Path

from diagnose.compiling.literals import required
from diagnose.parsing import transports
from diagnose.parsing.context import TELLING
from diagnose.parsing.lines import Peeled
from diagnose.parsing.marks import EXCEPTION
from diagnose.parsing.peeling import LAYERS, LINE_LAYERS, peel
from diagnose.parsing.watching import Watch

TESTS = Path(__file__).parents[1]
RECORDED = [*(TESTS / "parsing" / "forms").glob("*.txt"), *(TESTS / "traces").glob("**/*.txt")]
#: A paste that gained a blank line after each of its own: no recording has that.
_LINES = (TESTS / "parsing" / "forms" / "cpython.txt").read_text(encoding="utf-8").splitlines()
PASTED = "\n\n".join(_LINES * 3)


def test_every_declared_layer_is_peeled_and_the_other_way_round() -> None:
    folder = Path(transports.__file__).parent
    modules = {
        path.stem: import_module(f"{transports.__name__}.{path.stem}")
        for path in folder.glob("[a-z]*.py")
    }
    declared = [layer for module in modules.values() for layer in getattr(module, "LAYERS", ())]
    assert sorted(declared, key=str) == sorted(LAYERS, key=str)
    assert all(modules[layer.name] and layer.why for layer in declared)
    of_a_line = [one for module in modules.values() for one in getattr(module, "LINE_LAYERS", ())]
    assert sorted(of_a_line, key=str) == sorted(LINE_LAYERS, key=str)
    assert all(modules[layer.name] and layer.why for layer in of_a_line)


def test_no_two_layers_of_a_scope_stand_in_one_place() -> None:
    places = Counter((layer.scope, layer.order) for layer in LAYERS)
    assert max(places.values()) == 1
    orders = [layer.order for layer in LINE_LAYERS]
    assert orders == sorted(set(orders))


def test_every_layer_comes_off_a_recording() -> None:
    texts = [path.read_text(encoding="utf-8") for path in RECORDED] + [PASTED]
    taken: set[str] = set()
    for text in texts:
        watch = Watch()
        peel([Peeled(number, line) for number, line in enumerate(text.splitlines(), 1)], watch)
        taken |= {one.layer for one in watch.taken}
    assert taken >= {layer.name for layer in (*LAYERS, *LINE_LAYERS)}


def test_a_large_log_is_searched_for_what_layers_hide() -> None:
    marks = {mark for layer in LINE_LAYERS for mark in layer.marks}
    assert marks and marks <= set(EXCEPTION)


def test_a_line_within_lines_is_peeled_to_some_depth_and_no_page_twice() -> None:
    """A record in a record, five deep; and a page that shows how a page is written."""
    text = "RuntimeError: x"
    for _ in range(3):
        text = json.dumps({"message": text})
    assert [line.text for line in peel([Peeled(1, text)])] == ["RuntimeError: x"]
    for _ in range(3):
        text = json.dumps({"message": text})
    assert json.loads(peel([Peeled(1, text)])[0].text)
    assert [line.text for line in peel([Peeled(1, "<p>&amp;amp;lt;br&amp;amp;gt;</p>")])] == [
        "&lt;br&gt;"
    ]


def test_a_telling_line_holds_a_text_that_is_declared_for_it() -> None:
    """So that no line is passed over: every match of a pattern holds one of its texts."""
    for pattern, hints in TELLING:
        branches = [required(branch) for branch in _branches(pattern)]
        assert branches and all(branches), pattern
        for groups in branches:
            assert any(all(_holds(text, hints) for text in group) for group in groups), pattern
        assert all(
            any(_holds(x, (hint,)) for g in branches for o in g for x in o) for hint in hints
        )


def _holds(text: str, hints: tuple[str, ...]) -> bool:
    return any(hint in text for hint in hints)


def _branches(pattern: str) -> list[str]:
    """The alternatives of a pattern that are not within brackets."""
    found, depth = [""], 0
    for character in pattern:
        depth += (character == "(") - (character == ")")
        if character == "|" and not depth:
            found.append("")
        else:
            found[-1] += character
    return found
