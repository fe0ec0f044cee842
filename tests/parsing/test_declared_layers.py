"""What the layers declare of themselves, held against what comes off the recorded forms."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path

from diagnose.parsing import transports
from diagnose.parsing.lines import Peeled
from diagnose.parsing.marks import EXCEPTION
from diagnose.parsing.peeling import LAYERS, peel
from diagnose.parsing.transports import records
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


def test_no_two_layers_of_a_scope_stand_in_one_place() -> None:
    places = Counter((layer.scope, layer.order) for layer in LAYERS)
    assert max(places.values()) == 1


def test_every_layer_comes_off_a_recording() -> None:
    texts = [path.read_text(encoding="utf-8") for path in RECORDED] + [PASTED]
    taken: set[str] = set()
    for text in texts:
        watch = Watch()
        peel([Peeled(number, line) for number, line in enumerate(text.splitlines(), 1)], watch)
        taken |= {one.layer for one in watch.taken}
    assert taken >= {layer.name for layer in LAYERS}


def test_a_large_log_is_searched_for_what_layers_hide() -> None:
    assert set(records.MARKS) <= set(EXCEPTION)
