"""Where a program chooses the branch that a place stands in."""

from __future__ import annotations

import ast

import pytest

from diagnose.placement import Source, Spot
from diagnose.placement.control_dependence import switched_by

#: Name -> a program; ``# here`` ends the line of the switch of its call of ``spread``, where it has one.
PROGRAMS = {
    "condition_around_the_only_call": """\
def spare(store):
    spread(store)
def main(keep=False):  # here
    if not keep:
        spare(make())
main()
""",
    "one_of_two_calls_under_a_condition": """\
def spare(store):
    spread(store)
def main(keep=False):
    if not keep:
        spare(make())
    spare(make())
main()
""",
    "argument": """\
def build(parallel):
    model = make()
    return spread(model) if parallel else model
build(parallel=gpus() > 1)  # here
""",
    "default": """\
def build(
    model,
    parallel=True,  # here
):
    if parallel:
        return spread(model)
build(make())
""",
    "handed_on": """\
def load(auto):
    if auto:
        spread(make())
def main(auto_map=True):  # here
    load(auto_map)
main()
""",
    "option": """\
parser.add_argument("--auto-map", default=True)  # here
args = parser.parse_args()
if args.auto_map:
    spread(make())
""",
    "chosen_option": """\
parser.add_argument("--how", choices=["auto", "one"], default="auto")  # here
args = parser.parse_args()
model = spread(make()) if args.how == "auto" else make()
""",
    "entry": """\
CONFIG = {
    "steps": 2,
    "auto": True,  # here
}
def load(config):
    if config["auto"]:
        return spread(make())
""",
    "field": """\
@dataclass
class Config:
    auto: bool = True  # here
def load(config):
    if not config.auto:
        return make()
    else:
        return spread(make())
""",
    "constant": """\
AUTO = True  # here
if AUTO:
    spread(make())
""",
    "constructor": """\
class Service:
    def __init__(self, auto=False):
        self.auto = auto
    def load(self):
        if self.auto:
            spread(make())
Service(auto=True).load()  # here
""",
    "no_switch": "if len(gpus) > 1:\n    spread(make())\n",
    "no_branch": "spread(make())\n",
    "several_calls": """\
def build(parallel):
    return spread(make()) if parallel else make()
build(True)
build(False)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_switch_of_a_call(name: str) -> None:
    text = PROGRAMS[name]
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    [call] = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "spread"
    ]
    found = switched_by(Spot(source, call))
    wanted = [n for n, line in enumerate(source.lines, 1) if line.endswith("# here")]
    assert ([found.line] if found is not None else []) == wanted
