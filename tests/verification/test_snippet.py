"""The verification programs as text: complete, tidy, and deaf to what a log says."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from diagnose.casebase.store import Casebase
from diagnose.model import Frame, Mismatch, Report
from diagnose.verification.snippet import snippet

CAUSES = sorted(path.stem for path in (Path(__file__).parents[2] / "kb/causes").glob("*.toml"))
FACTS = {"DEVICES", "OPERATION", "CULPRIT"}
HOSTILE = [
    '"); import os; os.system("id"); ("',
    "cuda:0'\n__import__('os').system('id')\n'",
    '"""\nraise SystemExit\n"""',
    "cpu\\",
    "cuda:0\n",
    "{0.__class__}",
    "<title>",
    "cuda:٣",
    "ｃｕｄａ:0",
    "train.py\u202e",
    "a" * 100_000,
]
anything = st.one_of(st.sampled_from(HOSTILE), st.text(), st.text("cudap:0123\"'\\\n(){}#;. "))


def report(devices: tuple[str, ...], op: str | None = None, argument: str | None = None) -> Report:
    return Report("log.txt", mismatch=Mismatch(devices, op, argument, "any"))


def constants(program: str) -> dict[str, object]:
    assigned = [node for node in ast.parse(program).body if isinstance(node, ast.Assign)]
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in assigned
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in {*FACTS, "CAUSE", "GPUS"}
    }


def skeleton(program: str) -> str:
    """The syntax tree without the docstring and the values of the report's constants."""
    tree = ast.parse(program)
    tree.body = tree.body[1:]
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in FACTS:
            node.value = ast.Constant(None)
    return ast.dump(tree)


@pytest.fixture(scope="module")
def programs(casebase: Casebase, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program of each cause."""
    folder = tmp_path_factory.mktemp("programs")
    seen = report(("cuda:0", "cpu"), "wrapper_CUDA_addmm", "mat1")
    for name, cause in casebase.causes.items():
        program = snippet(cause, seen, Frame("/home/user/train.py", 12), casebase)
        (folder / f"{name}.py").write_text(program, encoding="utf-8")
    return folder


def test_there_is_a_program_for_every_cause(programs: Path) -> None:
    assert sorted(path.stem for path in programs.glob("*.py")) == CAUSES
    for path in programs.glob("*.py"):
        compile(path.read_text(encoding="utf-8"), path.name, "exec")


def test_programs_are_linted_and_formatted(programs: Path) -> None:
    """No undefined name, no unused import, sorted imports; a name is defined once (F811)."""
    ruff = [sys.executable, "-m", "ruff"]
    lint = [*ruff, "check", "--isolated", "--line-length", "100", "--select", "E,F,W,I,UP,B,C4"]
    layout = [*ruff, "format", "--isolated", "--line-length", "100", "--check"]
    for command in (lint, layout):
        result = subprocess.run([*command, programs], capture_output=True, text=True)
        assert result.returncode == 0, result.stdout


def test_programs_define_each_name_once(programs: Path) -> None:
    for path in programs.glob("*.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        names = [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        assert len(names) == len(set(names)), path.name


def test_programs_need_only_torch(programs: Path) -> None:
    for path in programs.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            for module in modules:
                assert module.partition(".")[0] in {"torch", *sys.stdlib_module_names}


def test_a_program_holds_the_checks_of_its_cause_and_no_others(casebase: Casebase) -> None:
    for cause in casebase.causes.values():
        tree = ast.parse(snippet(cause, None, None, casebase))
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        checks = {f"check_{name.replace('-', '_')}" for name in cause.checks if name != "runs"}
        assert {name for name in defined if name.startswith("check_")} == checks
        listed = next(
            n for n in tree.body if isinstance(n, ast.Assign) and "CHECKS" in ast.unparse(n)
        )
        assert {name.id for name in listed.value.elts} == checks


def test_what_the_report_says_is_filled_in(casebase: Casebase) -> None:
    cause = casebase.causes["cross-shard-op"]
    seen = report(("cuda:1", "cuda:0"), "wrapper_CUDA_cat", "tensors")
    program = snippet(cause, seen, Frame(r"C:\Users\me\model.py", 108), casebase)
    assert constants(program) == {
        "CAUSE": "cross-shard-op",
        "GPUS": 2,
        "DEVICES": ("cuda:1", "cuda:0"),
        "OPERATION": ("wrapper_CUDA_cat", "tensors"),
        "CULPRIT": ("model.py", 108),
    }
    docstring = ast.get_docstring(ast.parse(program)) or ""
    assert cause.title in docstring
    assert "fewer than 2 GPUs" in docstring
    assert "cuda:1 and cuda:0 met" in docstring
    assert "model.py, line 108" in docstring


def test_without_a_report_nothing_is_filled_in(casebase: Casebase) -> None:
    program = snippet(casebase.causes["rank-device"], None, None, casebase)
    assert [constants(program)[name] for name in sorted(FACTS)] == [(), (), ()]
    assert "The report" not in (ast.get_docstring(ast.parse(program)) or "")


@settings(max_examples=50, deadline=None)
@given(
    devices=st.lists(anything, max_size=3).map(tuple),
    op=st.none() | anything,
    argument=st.none() | anything,
    file=anything,
    line=st.none() | st.integers(),
)
@example(("cuda:0", "cpu"), "addmm", "mat1", 'x"; import os; "/train.py', 1)
@example((HOSTILE[0],), HOSTILE[2], HOSTILE[1], HOSTILE[0] + "/../a.py", -1)
def test_text_of_a_log_never_becomes_code(
    casebase: Casebase,
    devices: tuple[str, ...],
    op: str | None,
    argument: str | None,
    file: str,
    line: int | None,
) -> None:
    cause = casebase.causes["submodule-added-after-move"]
    benign = snippet(cause, report(("cuda:0", "cpu"), "addmm", "mat1"), Frame("a.py", 1), casebase)
    program = snippet(cause, report(devices, op, argument), Frame(file, line), casebase)

    compile(program, "verify.py", "exec")
    assert skeleton(program) == skeleton(benign)
    values = constants(program)
    assert set(values["DEVICES"]) <= set(devices)
    assert set(values["OPERATION"]) <= {op, argument}
    assert values["CULPRIT"] == () or (
        file.endswith(values["CULPRIT"][0]) and line == values["CULPRIT"][1]
    )
    assert program.isascii()


@pytest.mark.parametrize(
    "title", ['Say """stop"""', "C:\\new", 'Ends in "', "两个分片上的张量相遇"]
)
def test_any_title_fits_into_the_docstring(casebase: Casebase, title: str) -> None:
    cause = casebase.causes["rank-device"]._replace(title=title)
    tree = ast.parse(snippet(cause, None, None, casebase))
    assert (
        (ast.get_docstring(tree) or "")
        .splitlines()[0]
        .endswith(title.replace('"', "'").replace("\\", "/"))
    )


def test_assembly_does_not_import_torch(casebase_path: Path) -> None:
    code = (
        "import sys, json\n"
        "from diagnose.casebase.store import load\n"
        "from diagnose.verification.snippet import snippet\n"
        "base = load()\n"
        "for cause in base.causes.values(): snippet(cause, None, None, base)\n"
        "print(json.dumps([name for name in ('torch', 'sqlalchemy') if name in sys.modules]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert json.loads(result.stdout) == []
