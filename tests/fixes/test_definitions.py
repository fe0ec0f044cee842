"""The edit of a definition: the whole file as it is recorded, its diff applied by the tools that people use."""

from __future__ import annotations

import ast
import subprocess
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

from diagnose.casebase.store import Casebase
from diagnose.fixes import definitions
from diagnose.fixes.definitions import DEFINITIONS, define
from diagnose.fixes.editing import Refused
from diagnose.fixes.file_edit import FileEdit
from diagnose.placement.model import Device, Source, Spot, Suspect

FOLDER = Path(__file__).parent / "definitions"
CASES = sorted(FOLDER.glob("*/*.in.py"))


class Case(NamedTuple):
    """A file ``definitions/KIND/NAME.in.py``, whose first comments say what is suspected:
    ``# spot: CODE`` the node to edit, and, where they matter, ``# name:``, ``# devices:``, ``# wanted:``,
    ``# owner:``, ``# move: CODE``. ``NAME.out.py`` is the file that comes out, or why none does."""

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
        assert said.keys() <= {"cause", "spot", "name", "devices", "wanted", "owner", "move"}, said
        return cls(kind, Source(f"/home/u/{name}", lines, ast.parse(text)), said)

    @property
    def suspect(self) -> Suspect:
        said, wanted = self.said, None
        if "wanted" in said:
            kind, _, number = said["wanted"].partition(":")
            wanted = Device(kind, int(number) if number else None)
        return Suspect(
            said.get("cause", "-"),
            said.get("name", "x"),
            self.spot(said["spot"]),
            wanted=wanted,
            devices=tuple(d.strip() for d in said.get("devices", "device").split(";") if d.strip()),
            owner=said.get("owner"),
            move=self.spot(said["move"]) if "move" in said else None,
        )

    def spot(self, code: str) -> Spot:
        """The node that reads so: an expression before a statement, a compound statement by its header."""
        if code.startswith("parameter "):
            named = code.split()[1]
            nodes = [n for n in ast.walk(self.source.tree) if isinstance(n, ast.arg)]
            return next(Spot(self.source, n) for n in nodes if n.arg == named)
        if code.endswith(":"):
            wanted = ast.unparse(ast.parse(f"{code} ..."))
        else:
            mode = "exec" if " = " in code.split("(")[0] else "eval"
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
        return define(self.kind, self.suspect)

    def outcome(self) -> str:
        try:
            return self.edit().text
        except Refused as refused:
            return f"refused: {refused}\n"


def path_id(path: Path) -> str:
    return f"{path.parent.name}/{path.name.removesuffix('.in.py')}"


@pytest.mark.parametrize("path", CASES, ids=path_id)
def test_an_edit_gives_the_file_that_is_recorded(path: Path, renew: bool) -> None:
    out = path.with_name(path.name.replace(".in.py", ".out.py"))
    found = Case.read(path).outcome()
    if renew:
        out.write_bytes(found.encode())
    assert found == out.read_bytes().decode()


def test_every_kind_is_recorded_and_offered_by_a_cause(casebase: Casebase) -> None:
    folder = Path(definitions.__file__).parent
    modules = [import_module(f"{definitions.__name__}.{p.stem}") for p in folder.glob("[a-z]*.py")]
    declared = [kind for module in modules for kind in getattr(module, "KINDS", {})]
    assert sorted(declared) == sorted(DEFINITIONS), "an edit is not collected, or one kind has two"
    assert {path.parent.name for path in CASES} == set(DEFINITIONS)
    offered = {fix.kind for cause in casebase.causes.values() for fix in cause.fixes}
    assert set(DEFINITIONS) <= offered | {"enable-cpu-offload-flag"}, (
        "no cause of kb/ has such a fix"
    )
    outs = {path.name for path in FOLDER.glob("*/*.out.py")}
    assert outs == {path.name.replace(".in.py", ".out.py") for path in CASES}
    for kind in DEFINITIONS:
        outcomes = [Case.read(path).outcome() for path in CASES if path.parent.name == kind]
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
    edit = define("create-on-device", Suspect("-", "x", Spot(source, call), devices=("d",)))
    assert (edit.diff, edit.after) == (None, "x = torch.zeros(3, device=d)")
