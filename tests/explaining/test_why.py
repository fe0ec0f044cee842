"""`diagnose kb why`: what it tells is what the answer did, letter by letter for two inputs and for the page.

Renew the golden files and the page's example with ``python -m pytest tests/explaining --renew`` and read
the difference.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from diagnose.casebase.store import Casebase
from diagnose.explaining import json as as_json
from diagnose.explaining import text
from diagnose.explaining.account import Account, account
from diagnose.model import Edit
from diagnose.pipeline import diagnose
from diagnose.rendering.words import width
from diagnose.sources import Folder, Sources

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/why.md"
GOLDEN = Path(__file__).parent / "golden"
FORMS = ROOT / "tests/parsing/forms"
RECORDED = sorted((ROOT / "tests/traces").glob("**/*.txt")) + sorted(FORMS.glob("*.txt"))
HEALTHY = "step 1 loss 2.31\nstep 2 loss 2.29\n"
RETRIED = """\
Traceback (most recent call last):
  File "/w/run.py", line 3, in <module>
    y = a + b
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
retrying on cpu
step 1
step 2
step 3
Traceback (most recent call last):
  File "/w/run.py", line 9, in <module>
    z = torch.matmul(c, d)
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cuda:0!
"""


def told(data: str | bytes, casebase: Casebase) -> Account:
    raw = data.encode() if isinstance(data, str) else data
    return account(io.BytesIO(raw), "-", casebase, None)


def why(*args: str, stdin: str | bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "diagnose", "kb", "why", *args],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "60"},
        timeout=120,
    )


@pytest.mark.parametrize(
    "path", ["tests/traces/easyedit-memit-delta.txt", "tests/parsing/forms/interleaved-ranks.txt"]
)
def test_the_account_letter_by_letter(path: str, renew: bool) -> None:
    done = why(path)
    golden = GOLDEN / Path(path).name
    if renew:
        golden.write_bytes(done.stdout)
    assert done.stdout.decode() == golden.read_text(encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_page_shows_what_its_command_prints(renew: bool) -> None:
    page = PAGE.read_text(encoding="utf-8")
    command = re.search(r"```sh\ndiagnose kb why (\S+)\n```", page)
    assert command is not None
    shown = why(command[1]).stdout.decode()
    block = re.compile(r"(?<=```text\n).*?(?=```)", re.DOTALL)
    if renew:
        page = block.sub(lambda _: shown, page)
        PAGE.write_text(page, encoding="utf-8")
    assert block.findall(page) == [shown]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_the_account_is_that_of_the_answer(path: Path, casebase: Casebase) -> None:
    data = path.read_bytes()
    answer, made = diagnose(data, "-", casebase=casebase), told(data, casebase)
    assert made.diagnosis == answer
    assert len(made.causes) in (0, 3)
    for cause, weighed in zip(answer.causes, made.causes, strict=False):
        assert cause.id == weighed.scored.cause.id
        assert cause.confidence == round(weighed.scored.confidence, 4)
        terms = [term.value for term in weighed.scored.terms]
        assert weighed.scored.score == pytest.approx(math.fsum(terms))
        assert len(cause.fixes) == len(weighed.fixes)
        for fix, one in zip(cause.fixes, weighed.fixes, strict=True):
            assert fix.kind == one.template.kind
            assert fix.edit == (one.made if isinstance(one.made, Edit) else None)
            assert fix.edit is not None or str(one.made)
    error = answer.report.error
    explained = [one for one in made.errors if one.against is None]
    assert [(one.line, one.message) for one in explained] == (
        [] if error is None else [(error.at, error.message)]
    )
    assert json.loads(as_json.render(made))["verdict"] == answer.verdict


def test_every_other_error_has_what_speaks_against_it(casebase: Casebase) -> None:
    over, explained = told(RETRIED, casebase).errors[::-1]
    assert (explained.line, explained.against) == (12, None)
    assert over.line == 4
    assert over.against == "the log goes on after it, or says that it was expected or got over"


def test_layers_are_told_by_what_they_changed(casebase: Casebase) -> None:
    prefixed = "".join(f"[rank1]: {line}\n" for line in RETRIED.splitlines()[-4:])
    (layer,) = told(prefixed, casebase).layers
    assert layer.layer == "prefixes"
    assert layer.lines == 4
    assert (layer.number, layer.before) == (1, "[rank1]: Traceback (most recent call last):")
    assert layer.after == ("Traceback (most recent call last):",)
    table = (FORMS / "cloudwatch-csv.txt").read_bytes()
    assert told(table, casebase).layers[0].layer == "tables"
    assert told(RETRIED, casebase).layers == ()


def test_a_file_without_an_error_and_an_error_of_another_kind() -> None:
    none = why(stdin=HEALTHY)
    assert none.returncode == 3
    assert none.stdout.decode().splitlines()[0] == "standard input: no-error"
    memory = RETRIED.splitlines()[0] + "\n" + "MemoryError\n"
    other = why("--format", "json", stdin=memory)
    assert other.returncode == 1
    said = json.loads(other.stdout)
    assert said["causes"] == []
    assert said["family"] not in (None, "device-placement")


def test_several_inputs_and_one_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(RETRIED)
    (tmp_path / "b.log").write_text(HEALTHY)
    both = why("--format", "json", str(tmp_path / "a.log"), str(tmp_path / "b.log"))
    assert both.returncode == 0
    assert [json.loads(line)["verdict"] for line in both.stdout.splitlines()] == [
        "diagnosed", "no-error",
    ]  # fmt: skip
    torn = why(str(tmp_path / "b.log"), str(tmp_path / "none.log"))
    assert torn.returncode == 2
    assert b"none.log" in torn.stderr
    assert b"no-error" in torn.stdout


@pytest.mark.parametrize(
    "hostile",
    [
        RETRIED.replace("a + b", "a + b \x1b[2J\x07\u202e").replace("retrying", "going"),
        RETRIED.replace("/w/run.py", "/w/\x1b]0;owned\x07.py"),
        RETRIED.replace("RuntimeError", "Runtime\x9bError"),
        "\x1b[31m" * 50 + RETRIED,
        '{"log": "\\u001b[2J\\u001b]0;x\\u0007' + RETRIED.replace("\n", "\\n").replace('"', '\\"') + '"}',
        "\x00" + RETRIED,
        "深" * 400 + "\n" + RETRIED.replace("a + b", "深" * 90 + " + b"),
        RETRIED.encode("utf-16").decode("utf-16") * 40,
    ],
)  # fmt: skip
def test_no_log_steers_the_terminal(hostile: str, casebase: Casebase) -> None:
    page = text.render(told(hostile, casebase))
    assert all(character.isprintable() for character in page.replace("\n", ""))
    for line in page.splitlines():
        edit = line.lstrip().startswith(("- ", "+ "))
        assert width(line) <= text.COLUMNS or edit or " " not in line.strip()


def test_an_answer_does_not_import_it() -> None:
    code = (
        "import sys, io\nfrom diagnose.cli import main\n"
        "try: main(['tests/traces/easyedit-memit-delta.txt'])\n"
        "except SystemExit: pass\n"
        "print([m for m in sys.modules if 'explaining' in m or m.endswith(('retracing', 'watching'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=120, check=True
    )
    assert done.stdout.decode().splitlines()[-1] == "[]"


def test_what_the_files_say_is_told(casebase: Casebase) -> None:
    traces = Path(__file__).parents[1] / "traces"
    data = (traces / "causes" / "ticket-router-new-head.txt").read_bytes()
    sources = Sources((Folder(str(traces / "programs" / "ticket-router")),), read=None)
    looked = account(io.BytesIO(data), "-", casebase, sources)
    [suspect] = looked.suspects
    page = text.render(looked)
    assert f"submodule-added-after-move: {suspect.name}" in page
    assert "made on cpu, " in page
    assert "FileEdit(" not in page
    plain = json.loads(as_json.render(looked))
    assert plain["suspects"][0]["steps"][0]["what"] == "made"
    assert plain["causes"][0]["fixes"][0]["edit"]["line"] == suspect.line.line
