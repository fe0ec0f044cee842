"""The snippets as text: short, plain, and deaf to what a log says; their programs are run by
tests/test_every_incident.py."""

from __future__ import annotations

import ast
import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from diagnose.casebase.store import Casebase
from diagnose.model import Frame, Mismatch, Report
from diagnose.parsing import parse
from diagnose.verification.program import program
from diagnose.verification.snippet import snippet

ROOT = Path(__file__).parents[2]
CAUSES = sorted(path.stem for path in (ROOT / "kb/causes").glob("*.toml"))
FACTS = {"DEVICES", "OPERATION", "CULPRIT"}
MOST_LINES, WIDEST = 40, 100
HOSTILE = [
    '"); import os; os.system("id"); ("',
    "cuda:0'\n__import__('os').system('id')\n'",
    '"""\nraise SystemExit\n"""',
    "cpu\\",
    "cuda:0\n",
    "{0.__class__}",
    "<title>",
    "<script>",
    "cuda:٣",
    "ｃｕｄａ:0",
    "train.py\u202e",
    "a" * 100_000,
]
anything = st.one_of(st.sampled_from(HOSTILE), st.text(), st.text("cudap:0123\"'\\\n(){}#;. "))


def report(devices: tuple[str, ...], op: str | None = None, argument: str | None = None) -> Report:
    return Report("log.txt", mismatch=Mismatch(devices, op, argument, "any"))


def head(made: str) -> str:
    return ast.get_docstring(ast.parse(made)) or ""


def code(made: str) -> str:
    """The syntax tree without the docstring."""
    tree = ast.parse(made)
    return ast.dump(ast.Module(tree.body[1:], []))


def constants(made: str) -> dict[str, object]:
    """What a watching program knows of a report."""
    found = {}
    for node in ast.parse(made).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in FACTS:
            found[ast.unparse(node.targets[0])] = ast.literal_eval(node.value)
    return found


def skeleton(made: str) -> str:
    """The syntax tree without the values of the report's constants."""
    tree = ast.parse(made)
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in FACTS:
            node.value = ast.Constant(None)
    return ast.dump(tree)


@pytest.fixture(scope="module")
def snippets(casebase: Casebase) -> dict[str, str]:
    """The snippet of each cause, for a report of the longest kind."""
    seen = report(("cuda:0", "cpu"), "wrapper_CUDA_native_layer_norm", "weight")
    place = Frame("/home/user/train_long.py", 1200)
    return {name: snippet(cause, seen, place, casebase) for name, cause in casebase.causes.items()}


def fits(made: str) -> bool:
    lines = made.splitlines()
    return len(lines) <= MOST_LINES and max(map(len, lines)) <= WIDEST


@pytest.mark.parametrize("cause", CAUSES)
def test_a_snippet_is_short_and_says_where_two_names_go(
    snippets: dict[str, str], cause: str
) -> None:
    made = snippets[cause]
    compile(made, "verify.py", "exec")
    assert fits(made)
    assert "cuda:0 and cpu met" in head(made)
    assert "python verify.py train_long.py" in head(made)
    assert "check(model=model, batch=batch)" in head(made)


def test_half_of_the_snippets_are_shorter_still(snippets: dict[str, str]) -> None:
    assert statistics.median(made.count("\n") for made in snippets.values()) <= 39


def test_snippets_are_plain_torch_that_lints(snippets: dict[str, str], tmp_path: Path) -> None:
    for name, made in snippets.items():
        (tmp_path / f"{name}.py").write_text(made, encoding="utf-8")
        imported = [n for n in ast.walk(ast.parse(made)) if isinstance(n, ast.Import)]
        assert {alias.name for node in imported for alias in node.names} == {
            *("runpy", "sys", "traceback", "torch")
        }
    lint = ["ruff", "check", "--isolated", "--line-length", "100", "--select", "E,F,W,UP,B,C4"]
    done = subprocess.run(
        [sys.executable, "-m", *lint, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_every_recorded_report_gets_a_snippet_that_fits(casebase: Casebase) -> None:
    for incident in casebase.incidents.values():
        path = ROOT / "kb/cases" / incident.id / "trace.txt"
        if not path.exists():
            continue
        seen = parse(path.read_text("utf-8"), path.name, knowledge=casebase.knowledge)
        for frame in (None, *seen.frames[-1:]):
            made = snippet(casebase.causes[incident.cause], seen, frame, casebase)
            compile(made, "verify.py", "exec")
            assert fits(made), incident.id


def test_what_the_report_says_is_filled_in(casebase: Casebase) -> None:
    cause = casebase.causes["cross-shard-op"]
    seen = report(("cuda:1", "cuda:0"), "cat", "tensors")
    place = Frame(r"C:\Users\me\model.py", 108)
    assert f"{cause.title}: cuda:1 and cuda:0 met" in head(snippet(cause, seen, place, casebase))
    assert constants(program(cause, seen, place, casebase)) == {
        "DEVICES": ("cuda:1", "cuda:0"),
        "OPERATION": ("cat", "tensors"),
        "CULPRIT": ("model.py", 108),
    }
    plain = casebase.causes["optimizer-state"]._replace(title="Apart")
    told = head(snippet(plain, seen, place, casebase)).splitlines()[0]
    assert told == "Apart: cuda:1 and cuda:0 met in cat at model.py:108"


def test_without_a_report_nothing_is_filled_in(casebase: Casebase) -> None:
    cause = casebase.causes["rank-device"]
    assert head(snippet(cause, None, None, casebase)).splitlines()[0] == cause.title
    made = program(cause, None, None, casebase)
    assert constants(made) == dict.fromkeys(FACTS, ())


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
    seen, place = report(devices, op, argument), Frame(file, line)
    benign = report(("cuda:0", "cpu"), "addmm", "mat1"), Frame("a.py", 1)

    made = snippet(cause, seen, place, casebase)
    assert code(made) == code(snippet(cause, *benign, casebase))
    assert fits(made)
    assert made.isascii()

    watching = program(cause, seen, place, casebase)
    assert skeleton(watching) == skeleton(program(cause, *benign, casebase))
    values = constants(watching)
    assert set(values["DEVICES"]) <= set(devices)
    assert set(values["OPERATION"]) <= {op, argument}
    assert values["CULPRIT"] == () or (
        file.endswith(values["CULPRIT"][0]) and line == values["CULPRIT"][1]
    )


@pytest.mark.parametrize(
    "title", ['Say """stop"""', "C:\\new", 'Ends in "', "两个分片上的张量相遇"]
)
def test_any_title_fits_into_the_docstring(casebase: Casebase, title: str) -> None:
    cause = casebase.causes["rank-device"]._replace(title=title)
    told = head(snippet(cause, None, None, casebase)).splitlines()[0]
    assert told == title.replace('"', "'").replace("\\", "/")


def test_assembly_does_not_import_torch(casebase_path: Path) -> None:
    lines = (
        "import sys, json\n"
        "from diagnose.casebase.store import load\n"
        "from diagnose.verification.snippet import snippet\n"
        "base = load()\n"
        "for cause in base.causes.values(): snippet(cause, None, None, base)\n"
        "print(json.dumps([name for name in ('torch', 'sqlalchemy') if name in sys.modules]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, check=True
    )
    assert json.loads(result.stdout) == []
