"""Drafting an incident from a trace: all facts, hostile text, refusals, and what is left to do."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import example, given, settings
from hypothesis import strategies as st

from diagnose._toml import loads
from diagnose.authoring.drafts import SLUG, draft, proposed_slug
from diagnose.authoring.tomltext import quoted, quoted_list
from diagnose.authoring.unfinished import unfinished
from diagnose.casebase.store import Casebase, load
from diagnose.commands.doors import doors
from diagnose.compiling.kbfile import files
from diagnose.compiling.source import read
from diagnose.model import Diagnosis, Failure, Frame, Mismatch, Report
from diagnose.pipeline import diagnose

TRACE = """\
Traceback (most recent call last):
  File "/home/somebody/secret-project/run/train.py", line 40, in <module>
    main()
  File "/home/somebody/secret-project/run/train.py", line 31, in main
    loss = net(batch)
  File "/opt/env/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1736, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
  File "/opt/env/lib/python3.11/site-packages/peft/tuners/lora/layer.py", line 497, in forward
    result = self.base_layer(x)
  File "/home/somebody/secret-project/models/net.py", line 12, in forward
    return F.linear(x, self.weight)
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cpu! (when checking argument for argument mat2 in method wrapper_CUDA_mm)
"""
SHAPES = (
    TRACE[: TRACE.rindex("RuntimeError")]
    + "RuntimeError: The size of tensor a (10) must match the size of tensor b (9) at non-singleton dimension 3\n"
)


@pytest.fixture
def small_kb(kb: Path, tmp_path: Path) -> Path:
    """kb/ without its incidents."""
    return Path(shutil.copytree(kb, tmp_path / "kb", ignore=shutil.ignore_patterns("cases")))


def new(kb: Path, *arguments: str, stdin: str | bytes = TRACE) -> Result:
    return CliRunner().invoke(doors, ["kb", "new", "--kb", str(kb), *arguments], input=stdin)


def facts_of(kb: Path, slug: str) -> dict[str, object]:
    return loads((kb / "cases" / slug / "case.toml").read_text(encoding="utf-8"))


# --- TOML strings -----------------------------------------------------------------------------------


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example('\x00\x1b[31m\x7f\u2028\u202e\U000e0001"""\\u0041\r\n\t\\')
@example('"\ncause = "hacked"')
def test_any_text_reads_back_and_hides_nothing(text: str) -> None:
    line = quoted(text)
    assert loads(f"key = {line}") == {"key": text}
    assert line.isprintable()


@given(st.text(st.characters(categories=["Cs", "Ll"])))
def test_a_lone_surrogate_becomes_a_replacement(text: str) -> None:
    read_back = loads(f"key = {quoted(text)}")["key"]
    expected = ["\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text]
    assert list(read_back) == expected


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_any_list_reads_back(texts: list[str]) -> None:
    assert loads(f"key = {quoted_list(texts)}") == {"key": texts}


# --- what a draft holds -------------------------------------------------------------------------------


def test_a_draft_has_all_that_the_trace_says(small_kb: Path, casebase: Casebase) -> None:
    done = new(small_kb, "--from", "-", "--id", "peft-net-mm")
    assert done.exit_code == 0, done.output
    facts = facts_of(small_kb, "peft-net-mm")
    assert facts["id"] == "peft-net-mm"
    assert facts["exception"] == "RuntimeError"
    assert f"RuntimeError: {facts['message']}\n" in TRACE
    assert facts["devices"] == ["cuda:1", "cpu"]
    assert (facts["op"], facts["argument"]) == ("wrapper_CUDA_mm", "mat2")
    assert facts["libraries"] == ["torch", "peft"]
    assert facts["frames"] == [
        "run/train.py:40 <module>",
        "run/train.py:31 main",
        "peft/tuners/lora/layer.py:497 forward",
        "models/net.py:12 forward",
    ]
    assert facts["gpus"] == 2
    guess = diagnose(TRACE, casebase=casebase).causes[0].id
    assert str(facts["cause"]).startswith("TODO") and guess in str(facts["cause"])


def test_the_users_own_folders_are_not_told(small_kb: Path) -> None:
    assert new(small_kb, "--from", "-", "--id", "private").exit_code == 0
    for path in (small_kb / "cases/private").iterdir():
        text = path.read_text(encoding="utf-8")
        assert "somebody" not in text and "secret-project" not in text


@pytest.mark.parametrize(
    ("files", "named"),
    [
        (["C:\\work\\a\\b.py", "C:\\work\\c.py"], ["a/b.py:1 f", "c.py:1 f"]),
        (["/x.py"], ["x.py:1 f"]),
        (["<stdin>", "/home/me/x.py"], ["<stdin>:1 f", "x.py:1 f"]),
        (["./x.py", "lib/y.py"], ["x.py:1 f", "lib/y.py:1 f"]),
    ],
)
def test_files_are_named_from_the_folder_of_the_users_code(
    files: list[str], named: list[str], casebase: Casebase
) -> None:
    frames = tuple(Frame(file, 1, "f") for file in files)
    report = Report("-", Failure("RuntimeError", "x", "device-placement"), frames=frames)
    cause = casebase.causes["rank-device"]
    assert (
        loads(draft(Diagnosis(report, "unknown"), cause, "x", guessed=False).case)["frames"]
        == named
    )


def test_a_recursion_keeps_its_innermost_frames(casebase: Casebase) -> None:
    frames = tuple(Frame("a.py", n, "f") for n in range(3000))
    report = Report("-", Failure("RuntimeError", "x" * 9000, "device-placement"), frames=frames)
    cause = casebase.causes["rank-device"]
    facts = loads(draft(Diagnosis(report, "unknown"), cause, "x", guessed=False).case)
    assert facts["frames"][-1] == "a.py:2999 f"
    assert len(facts["frames"]) < 50
    assert len(facts["message"]) < 4000


HOSTILE = st.text(st.characters(exclude_categories=[]), max_size=60)


@settings(deadline=None)
@given(HOSTILE, HOSTILE, HOSTILE, st.lists(st.tuples(HOSTILE, HOSTILE), max_size=3))
@example('"""', "\n[[sources]]\n", "'''\nimport os; os.system('x')", [('"""', "# TODO")])
@example("\n", "{cause}{0}%s", "\\", [("/a/../../b.py", "\x1b]0;x\x07"), ("/a/c.py", "f")])
def test_text_of_a_trace_stays_text(
    kind: str, message: str, op: str, frames: list[tuple[str, str]]
) -> None:
    report = Report(
        "-",
        Failure(kind, message, "device-placement"),
        Mismatch((message, "cpu"), op, kind, "x"),
        tuple(Frame(file, 3, function, code=message) for file, function in frames),
        libraries=(kind,),
    )
    diagnosis = Diagnosis(report, "unknown", report.frames[-1] if report.frames else None)
    cause = load().causes["cross-shard-op"]
    slug = proposed_slug(diagnosis)
    assert SLUG.fullmatch(slug)
    made = draft(diagnosis, cause, slug, guessed=False)
    facts = loads(made.case)
    assert set(facts) <= {
        *("id", "cause", "exception", "message", "devices", "op", "argument", "libraries"),
        *("frames", "fixes", "gpus", "needs", "en", "zh", "sources"),
    }
    assert facts["cause"] == "cross-shard-op"
    assert len(facts["sources"]) == 1
    clean = Diagnosis(Report("-", Failure("E", "m", "device-placement")), "unknown")
    assert made.program == draft(clean, cause, slug, guessed=False).program


def test_another_failure_needs_a_cause_and_keeps_its_family(small_kb: Path) -> None:
    done = new(small_kb, "--from", "-", "--id", "shapes", stdin=SHAPES)
    assert done.exit_code == 2
    assert "(shape-mismatch)" in done.output and "name it with --cause" in done.output
    done = new(small_kb, "--from", "-", "--id", "shapes", "--cause", "index-device", stdin=SHAPES)
    assert done.exit_code == 0
    facts = facts_of(small_kb, "shapes")
    assert (facts["cause"], facts["family"]) == ("index-device", "shape-mismatch")


def test_a_silent_incident_has_no_trace(small_kb: Path) -> None:
    done = new(small_kb, "--silent", "--id", "nan-copy", "--cause", "meta-tensor")
    assert done.exit_code == 0
    facts = facts_of(small_kb, "nan-copy")
    assert facts["silent"] is True
    assert "exception" not in facts and "message" not in facts


# --- refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "--from FILE, or --silent"),
        (["--from", "-", "--silent"], "--from FILE, or --silent"),
        (["--silent", "--id", "x"], "needs --id and --cause"),
        (["--from", "-", "--id", "../outside"], "lower-case letters and digits"),
        (["--from", "-", "--id", "UPPER"], "lower-case letters and digits"),
        (["--from", "-", "--id", "new\n"], "lower-case letters and digits"),
        (["--from", "-", "--id", "a" * 61], "at most 60"),
        (["--from", "-", "--cause", "rank-devise"], "did you mean rank-device"),
        (["--from", "no/such/file"], "cannot be read: No such file"),
        (["--from", "-", "--kb", "elsewhere"], "has no causes/ folder"),
    ],
)
def test_a_refusal_is_a_sentence_and_writes_nothing(
    small_kb: Path, arguments: list[str], sentence: str
) -> None:
    done = new(small_kb, *arguments)
    assert done.exit_code == 2
    assert sentence in " ".join(done.output.split())
    assert not (small_kb / "cases").exists()


def test_a_log_without_an_error_is_refused(small_kb: Path) -> None:
    done = new(small_kb, "--from", "-", stdin="step 1 loss 2.3\nstep 2 loss 2.2\n")
    assert done.exit_code == 2
    assert "standard input shows no error" in done.output
    assert "--silent" in done.output


def test_nothing_is_overwritten(small_kb: Path) -> None:
    assert new(small_kb, "--from", "-", "--id", "mine").exit_code == 0
    path = small_kb / "cases/mine/case.toml"
    path.write_text("# hours of work\n")
    done = new(small_kb, "--from", "-", "--id", "mine")
    assert done.exit_code == 2
    assert "is there already" in done.output
    assert path.read_text() == "# hours of work\n"


# --- what is left to do -------------------------------------------------------------------------------


def check(kb: Path, *incidents: str) -> Result:
    return CliRunner().invoke(doors, ["kb", "check", "--kb", str(kb), *incidents])


def test_every_gap_of_a_draft_is_told_once_with_file_and_key(small_kb: Path) -> None:
    new(small_kb, "--from", "-", "--id", "mine")
    done = check(small_kb, "mine")
    assert done.exit_code == 1
    case, program = small_kb / "cases/mine/case.toml", small_kb / "cases/mine/reproduce.py"
    told = [line.split(": ")[:2] for line in done.output.splitlines() if "/cases/" in line]
    texts = [f"{lang}.{key}" for lang in ("en", "zh") for key in ("title", "saw", "was", "mended")]
    lines = case.read_text(encoding="utf-8").splitlines()
    keys = []
    for place, key in told:
        if place.startswith(f"{case}:"):
            keys.append(key)
            line = lines[int(place.rpartition(":")[2]) - 1]
            assert "TODO" in line or line.endswith('"""'), "the line of the key"
    assert sorted(keys) == sorted(
        ["cause", "fixes[0]", *texts, "sources[0].url", "sources[0].supports"]
    )
    assert [place for place, _ in told if "reproduce" in place] == [f"{program}:1", f"{program}:7"]
    assert len(told) == len(keys) + 2


def test_a_draft_cannot_be_compiled(small_kb: Path, tmp_path: Path) -> None:
    new(small_kb, "--from", "-", "--id", "mine")
    target = tmp_path / "out.sqlite"
    done = CliRunner().invoke(
        doors, ["kb", "build", "--kb", str(small_kb), "--output", str(target)]
    )
    assert done.exit_code == 2
    assert "nothing was written" in done.output
    assert not target.exists()


def test_a_trace_that_says_todo_is_no_gap(small_kb: Path) -> None:
    trace = TRACE.replace("RuntimeError: ", "RuntimeError: TODO ").replace(" main", " TODO")
    assert (
        new(
            small_kb, "--from", "-", "--id", "mine", "--cause", "rank-device", stdin=trace
        ).exit_code
        == 0
    )
    assert str(facts_of(small_kb, "mine")["message"]).startswith("TODO Expected")
    assert {p.key for p in unfinished(files(small_kb))}.isdisjoint({"message", "frames"})


def test_only_the_named_incidents_are_told_of(small_kb: Path) -> None:
    new(small_kb, "--from", "-", "--id", "mine")
    new(small_kb, "--from", "-", "--id", "yours")
    assert "cases/yours/" not in check(small_kb, "mine").output
    assert "cases/yours/" in check(small_kb).output
    done = check(small_kb, "your")
    assert done.exit_code == 2
    assert "Did you mean yours" in done.output


def test_a_missing_file_is_told_plainly(small_kb: Path) -> None:
    (small_kb / "cases/half").mkdir(parents=True)
    done = check(small_kb, "half")
    assert done.exit_code == 1
    assert "cases/half/case.toml: -: is missing" in done.output
    assert "cases/half/reproduce.py: -: is missing" in done.output


# --- the drafted program ------------------------------------------------------------------------------


def test_every_cause_drafts_a_program_that_has_both_variants(casebase: Casebase) -> None:
    report = Report("-", Failure("RuntimeError", "x", "device-placement"))
    for cause in casebase.causes.values():
        made = draft(Diagnosis(report, "unknown"), cause, "x", guessed=True)
        tree = ast.parse(made.program)
        assert isinstance(tree.body[0], ast.Expr), "the docstring comes first"
        assert {"mistake", "fixed", "main"} <= {
            node.name for node in tree.body if isinstance(node, ast.FunctionDef)
        }
        assert "import sys" in made.program
        imports = [n.lineno for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
        others = [n.lineno for n in tree.body[1:] if not isinstance(n, ast.Import | ast.ImportFrom)]
        assert max(imports) < min(others)
        assert loads(made.case)["gpus"] >= cause.gpus


def test_a_drafted_program_fails_and_passes_on_simulated_gpus(small_kb: Path) -> None:
    pytest.importorskip("torch")
    new(small_kb, "--from", "-", "--id", "mine")
    program = small_kb / "cases/mine/reproduce.py"
    for variant, status, said in (("failing", 1, "Error: "), ("fixed", 0, "fixed: ok")):
        done = subprocess.run(
            [sys.executable, "-m", "diagnose", "run", "--simulate=2", str(program), variant],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == status
        assert said in done.stdout + done.stderr


def test_a_finished_draft_has_no_mistakes(small_kb: Path) -> None:
    new(small_kb, "--from", "-", "--id", "mine", "--cause", "module-not-moved")
    path = small_kb / "cases/mine/case.toml"
    lines = path.read_text(encoding="utf-8").splitlines()
    lines = [line.replace("TODO: the https address of", "https://example.org/") for line in lines]
    lines = ['    "move-module",' if "TODO: what fixed it, as" in line else line for line in lines]
    path.write_text("\n".join(lines).replace("TODO: ", ""), encoding="utf-8")
    program = path.with_name("reproduce.py")
    program.write_text(program.read_text(encoding="utf-8").replace("TODO: ", ""), encoding="utf-8")
    assert [str(p) for p in [*read(small_kb).problems, *unfinished(files(small_kb))]] == []
