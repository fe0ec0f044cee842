"""How often a program is followed, and its tree walked: no assumption is tried that nothing depends on."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any, ClassVar

import pytest
from parsing.knowledge import torch

from diagnose.kinds import OptionState
from diagnose.placement import Source, analysis, check
from diagnose.placement.semantics import walk

OPEN, DEFAULT, TURNED_ON = OptionState.OPEN, OptionState.DEFAULT, OptionState.TURNED_ON
HEAD = "import argparse\nimport os\nimport torch\nparser = argparse.ArgumentParser()\n"
TAIL = "args = parser.parse_args()\nprint(torch.ones(2).cuda())\n"
#: What stands in a program -> how its options are taken when it is followed.
RUNS = {
    "": [OPEN],
    "parser.add_argument('--steps', type=int, default=3)\n": [OPEN, DEFAULT],
    "parser.add_argument('--fast', action='store_true')\n": [OPEN, DEFAULT, TURNED_ON],
    "parser.add_argument('--device', default='cpu')\n": [OPEN, DEFAULT, TURNED_ON],
    "gpu = int(os.environ.get('GPU', 0))\nx = torch.ones(2, device=gpu)\n": [OPEN],
}


@pytest.mark.parametrize("line", RUNS)
def test_only_what_differs_is_followed(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []

    def analyse(*args: Any, **named: Any) -> Any:
        taken.append(named.get("options", OPEN))
        return real(*args, **named)

    real = analysis.analyse
    monkeypatch.setattr(analysis, "analyse", analyse)
    text = HEAD + line + TAIL
    check(Source("/x/main.py", text.split("\n"), ast.parse(text)), torch(), None)
    assert taken == RUNS[line]


def test_nodes_are_those_of_ast_and_in_its_order() -> None:
    tree = ast.parse(
        "class A:\n    def f(self, x, *, y=1):\n        return [x for _ in y if x < 2]\n"
    )
    for node in ast.walk(tree):
        assert list(walk(node)) == list(ast.walk(node))


def test_a_definition_is_walked_once() -> None:
    class Counted(ast.FunctionDef):
        asked: ClassVar[Counter[str]] = Counter()

        def __getattribute__(self, name: str) -> Any:
            Counted.asked[name] += 1
            return super().__getattribute__(name)

    function = Counted("f", ast.arguments([], [], None, [], [], None, []), [ast.Pass()], [])
    first, times = walk(function), Counted.asked["body"]
    assert walk(function) is first and Counted.asked["body"] == times
