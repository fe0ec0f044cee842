"""The edit of a definition: the whole file as it is recorded, its diff applied by the tools that people use."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parsing.knowledge import torch

from diagnose.casebase.store import Casebase
from diagnose.fixes import codemods
from diagnose.fixes.codemods import DEFINITIONS, define
from diagnose.fixes.codemods.expressions import expression, moved, replaced
from diagnose.fixes.codemods.positions import span
from diagnose.fixes.file_edit import FileEdit, file_edit
from diagnose.fixes.file_gate import Change, Splice
from diagnose.fixes.line_gate import Refused
from diagnose.kinds import DeviceType, EventKind
from diagnose.placement.model import Device, Source, Spot, Step, Suspect
from diagnose.scene.settings import pinned

FOLDER = Path(__file__).parent / "codemods"
CASES = sorted(FOLDER.glob("*/*.in.py"))
KEYS = {
    *(
        "cause",
        "spot",
        "name",
        "device",
        "devices",
        "wanted",
        "owner",
        "move",
        "beside",
        "meets",
        "step",
    ),
}


class Case(NamedTuple):
    """A file ``definitions/KIND/NAME.in.py``, whose first comments say what is suspected:
    ``# spot: CODE`` the node to edit, and, where they matter, ``# name:``, ``# device:`` (where it is), ``# devices:``, ``# wanted:``,
    ``# owner:``, ``# move: CODE``, ``# beside: CODE``, ``# meets: CODE``, ``# step: WHAT CODE``. ``NAME.out.py`` is the file that comes out, or why none does."""

    kind: str
    source: Source
    said: dict[str, str]

    @classmethod
    def read(cls, path: Path) -> Case:
        return cls.of(path.parent.name, path.read_bytes().decode(), path.name)

    @classmethod
    def of(cls, kind: str, text: str, name: str = "train.py") -> Case:
        lines = text.split("\n")
        said = {}
        for line in lines:
            if not line.startswith("# ") or ": " not in line:
                break
            key, value = line.rstrip("\r").removeprefix("# ").split(": ", 1)
            said[key] = value
        assert said.keys() <= KEYS, said
        return cls(kind, Source(f"/home/u/{name}", lines, ast.parse(text)), said)

    @property
    def suspect(self) -> Suspect:
        said = self.said
        return Suspect(
            said.get("cause", "-"),
            said.get("name", "x"),
            self.spot(said["spot"]),
            device=self.device("device"),
            wanted=self.device("wanted"),
            devices=tuple(d.strip() for d in said.get("devices", "device").split(";") if d.strip()),
            owner=said.get("owner"),
            steps=tuple(self.steps()),
            move=self.spot(said["move"]) if "move" in said else None,
            beside=self.spot(said["beside"]) if "beside" in said else None,
            meets=self.spot(said["meets"]) if "meets" in said else None,
        )

    def device(self, key: str) -> Device | None:
        kind, _, number = self.said.get(key, "").partition(":")
        return Device(DeviceType(kind), int(number) if number else None) if kind else None

    def steps(self) -> Iterator[Step]:
        what, _, code = self.said.get("step", "").partition(" ")
        if what:
            yield Step(EventKind(what), self.spot(code))

    def spot(self, code: str) -> Spot:
        """The node that reads so: an expression before a statement, a compound statement by its header."""
        if code.startswith("parameter "):
            named = code.split()[1]
            nodes = [n for n in ast.walk(self.source.tree) if isinstance(n, ast.arg)]
            return next(Spot(self.source, n) for n in nodes if n.arg == named)
        if code.startswith("pinned "):
            spot = pinned([self.source], code.split()[1])
            assert spot is not None
            return spot
        if code.endswith(":"):
            wanted = ast.unparse(ast.parse(f"{code} ..."))
        else:
            mode = "exec" if " = " in code.split("(")[0] or code.startswith("return ") else "eval"
            wanted = ast.unparse(ast.parse(code, mode=mode))
        nodes = list(ast.walk(self.source.tree))
        for sort in (ast.expr, ast.stmt):
            for node in nodes:
                if isinstance(node, sort):
                    text = ast.unparse(node)
                    if wanted.endswith(":\n    ..."):
                        text = f"{text.partition(chr(10))[0]}\n    ..."
                    if text == wanted:
                        return Spot(self.source, node)
        raise AssertionError(f"{code} is not in the file")

    def edit(self) -> FileEdit:
        return define(self.kind, self.suspect, torch=torch())

    def outcome(self) -> str:
        try:
            return self.edit().text
        except Refused as refused:
            return f"refused: {refused}\n"


def golden(path: Path) -> Path:
    return path.with_name(path.name.replace(".in.py", ".out.py"))


def path_id(path: Path) -> str:
    return f"{path.parent.name}/{path.name.removesuffix('.in.py')}"


@pytest.mark.parametrize("path", CASES, ids=path_id)
def test_an_edit_gives_the_file_that_is_recorded(path: Path, renew: bool) -> None:
    out = golden(path)
    found = Case.read(path).outcome()
    if renew:
        out.write_bytes(found.encode())
    assert found == out.read_bytes().decode()


def test_every_kind_is_recorded_and_offered_by_a_cause(casebase: Casebase) -> None:
    folder = Path(codemods.__file__).parent
    modules = [import_module(f"{codemods.__name__}.{p.stem}") for p in folder.glob("[a-z]*.py")]
    declared = [kind for module in modules for kind in getattr(module, "KINDS", {})]
    assert sorted(declared) == sorted(DEFINITIONS), "an edit is not collected, or one kind has two"
    assert {path.parent.name for path in CASES} == set(DEFINITIONS)
    offered = {fix.kind for cause in casebase.causes.values() for fix in cause.fixes}
    assert set(DEFINITIONS) <= offered | {"enable-cpu-offload-flag"}, (
        "no cause of kb/ has such a fix"
    )
    outs = {path.name for path in FOLDER.glob("*/*.out.py")}
    assert outs == {golden(path).name for path in CASES}
    for kind in DEFINITIONS:
        outcomes = [golden(path).read_text("utf-8") for path in CASES if path.parent.name == kind]
        assert any(o.startswith("refused: ") for o in outcomes), f"{kind} is never refused"
        assert not all(o.startswith("refused: ") for o in outcomes), f"{kind} is always refused"


# --- diffs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False], ids=["ends with a line feed", "ends without one"])
def test_every_diff_applies_to_its_file(end: str, last: bool, tmp_path: Path) -> None:
    edits = list[FileEdit]()
    for path in CASES:
        text = path.read_bytes().decode()
        text = (text if last else text.rstrip()).replace("\n", end)
        with suppress(Refused):
            case = Case.of(path.parent.name, text, f"{path.parent.name}.{path.name}")
            edits.append(case.edit())
            (tmp_path / edits[-1].name).write_bytes(text.encode())
    assert {edit.name.partition(".")[0] for edit in edits} >= set(DEFINITIONS)
    diff = "".join(edit.diff or "" for edit in edits).encode()
    before = {edit.name: (tmp_path / edit.name).read_bytes() for edit in edits}
    for tool in (["git", "apply", "-"], ["patch", "-p1", "--quiet", "--binary"]):
        for name, content in before.items():
            (tmp_path / name).write_bytes(content)
        run = subprocess.run(tool, input=diff, cwd=tmp_path, capture_output=True)
        assert run.returncode == 0, (tool, run.stderr.decode(), run.stdout.decode())
        for edit in edits:
            assert (tmp_path / edit.name).read_bytes().decode() == edit.text, (tool, edit.diff)


def test_before_and_after_are_lines_of_the_file() -> None:
    for path in CASES:
        case = Case.read(path)
        try:
            edit = case.edit()
        except Refused:
            continue
        before, after = edit.before.split("\n"), edit.after.split("\n")
        lines = list(case.source.lines)
        assert lines[edit.line - 1 :][: len(before)] == before, path
        lines[edit.line - 1 : edit.line - 1 + len(before)] = after
        if "\n".join(lines) != edit.text:  # an import stands aside
            added = set(edit.text.split("\n")) - set(lines)
            assert all(line.startswith("import ") for line in added), (path, added)


def test_a_cell_of_a_notebook_has_no_diff() -> None:
    source = Source(
        "<ipython-input-1>", ["x = torch.zeros(3)", ""], ast.parse("x = torch.zeros(3)")
    )
    call = source.tree.body[0].value  # type: ignore[attr-defined]
    edit = define(
        "create-on-device", Suspect("-", "x", Spot(source, call), devices=("d",)), torch=torch()
    )
    assert (edit.diff, edit.after) == (None, "x = torch.zeros(3, device=d)")


# --- whatever the file is -----------------------------------------------------------------------------

EDITED = [
    path
    for path in CASES
    if (out := golden(path)).exists() and not out.read_text("utf-8").startswith("refused")
]
ABOVE = st.lists(
    st.sampled_from(
        ["", "# Größe 🙂", "ä = 'é' ; ß = 77", "text = '''\n  # no comment\n'''", "\f"]
    ),
    max_size=4,
)
BELOW = st.lists(
    st.sampled_from(["", "# Ende", "if done: pass", "def _(): ...", "ö = (\n77)"]), max_size=3
)


@given(st.sampled_from(EDITED), ABOVE, BELOW, st.booleans(), st.booleans())
def test_what_stands_around_changes_no_edit(
    path: Path, above: list[str], below: list[str], tabs: bool, crlf: bool
) -> None:
    plain = Case.read(path)
    text = plain.source.text
    if plain.edit().text.count("import ") > text.count("import "):
        above = []  # where an import stands depends on what is above
    if tabs:
        text = re.sub("^(    )+", lambda m: "\t" * (len(m[0]) // 4), text, flags=re.MULTILINE)
    header, lines = text.split("\n")[: len(plain.said)], text.split("\n")[len(plain.said) :]
    around = "\n".join([*header, *above, *lines, *below])
    case = Case.of(plain.kind, around.replace("\n", "\r\n") if crlf else around)
    edited = case.edit().text
    first = len(ast.parse("\n".join(above)).body)
    last = first + len(ast.parse(plain.edit().text).body)
    wanted = ast.unparse(ast.parse(plain.edit().text))
    body = ast.parse(edited).body
    assert ast.unparse(ast.Module(body[first:last], [])) == wanted
    assert edited.count("\r\n") == (edited.count("\n") if crlf else 0)
    for line in [*above, *below]:
        assert line.split("\n")[0] in edited


@given(st.sampled_from(CASES), st.randoms(use_true_random=False))
def test_any_expression_can_be_moved_or_is_refused(path: Path, random: Random) -> None:
    source = Case.read(path).source
    nodes = [node for node in ast.walk(source.tree) if isinstance(node, ast.expr)]
    node = random.choice(nodes)
    try:
        edited = file_edit(source, [moved(source, node, "d")]).text
    except Refused:
        return
    # By other means: the node of a fresh tree is swapped, and both are printed anew.
    again = ast.parse(source.text)
    swapped = [one for one in ast.walk(again) if isinstance(one, ast.expr)][nodes.index(node)]
    call = ast.Call(ast.Attribute(swapped, "to", ast.Load()), [ast.Name("d", ast.Load())], [])

    class Swap(ast.NodeTransformer):
        def visit(self, one: ast.AST) -> ast.AST:
            return call if one is swapped else self.generic_visit(one)

    assert ast.unparse(ast.parse(edited)) == ast.unparse(Swap().visit(again))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a = 1\rx = torch.zeros(3)\n", "carriage returns without line feeds"),
        ("x = f'{torch.zeros(3)}'\n", "f-string"),
        ("x = torch.zeros(n for n in y)\n", "no Python"),
    ],
)
def test_what_cannot_be_sure_is_refused_with_a_reason(text: str, reason: str) -> None:
    source = Source("/home/u/train.py", text.split("\n"), ast.parse(text))
    call = next(n for n in ast.walk(source.tree) if isinstance(n, ast.Call))
    with pytest.raises(Refused, match=reason):
        define(
            "create-on-device", Suspect("-", "x", Spot(source, call), devices=("d",)), torch=torch()
        )


def test_two_changes_of_one_place_are_refused() -> None:
    source = Source("/home/u/a.py", ["x = f(a)", ""], ast.parse("x = f(a)"))
    call = next(n for n in ast.walk(source.tree) if isinstance(n, ast.Call))
    with pytest.raises(Refused, match="two changes of one place"):
        file_edit(source, [moved(source, call, "d"), replaced(source, call, "g(a)")])


def test_what_a_change_does_not_say_is_refused() -> None:
    source = Source("/home/u/a.py", ["x = a + b", ""], ast.parse("x = a + b"))
    name = next(n for n in ast.walk(source.tree) if isinstance(n, ast.Name) and n.id == "b")
    start, end = span(source, name)
    for text, becomes in (("c * d", "c"), ("b", "c"), ("b + 1", "b + 1"), ("b; y = 1", "b")):
        change = Change((Splice(start, end, text),), name, (expression(becomes),))
        with pytest.raises(Refused):
            file_edit(source, [change])


def test_statements_of_one_line_belong_together() -> None:
    text = "x = (1,\n2); y = torch.zeros(3); z = 1\n"
    source = Source("/home/u/a.py", text.split("\n"), ast.parse(text))
    call = next(n for n in ast.walk(source.tree) if isinstance(n, ast.Call))
    edit = define(
        "create-on-device", Suspect("-", "x", Spot(source, call), devices=("d",)), torch=torch()
    )
    assert edit.after == "2); y = torch.zeros(3, device=d); z = 1"


def test_several_suspects_are_edited_together() -> None:
    text = "a = torch.zeros(3)\nb = torch.ones(3)\n"
    source = Source("/home/u/a.py", text.split("\n"), ast.parse(text))
    calls = [n for n in ast.walk(source.tree) if isinstance(n, ast.Call)]
    suspects = [Suspect("-", "x", Spot(source, call), devices=("d",)) for call in calls]
    edit = define("create-on-device", *suspects, suspects[0], torch=torch())
    assert edit.text == "a = torch.zeros(3, device=d)\nb = torch.ones(3, device=d)\n"
    assert (edit.line, edit.before) == (1, text.rstrip())


def test_a_fix_that_edits_no_definition_says_so() -> None:
    source = Source("/home/u/a.py", ["x = f(a)", ""], ast.parse("x = f(a)"))
    with pytest.raises(Refused, match="it edits no definition"):
        define("use-ddp", Suspect("-", "x", Spot(source, source.tree.body[0])), torch=torch())


def test_what_is_no_file_gets_no_diff() -> None:
    text = "x = torch.zeros(3)\n"
    tree = ast.parse(text)
    source = Source("<cell /home/u/train.py>", tuple(text.split("\n")), tree)
    [call] = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    made = define(
        "create-on-device",
        Suspect("created-without-device", "x", Spot(source, call), devices=("device",)),
        torch=torch(),
    )
    assert made.diff is None
    assert made.after == "x = torch.zeros(3, device=device)"
