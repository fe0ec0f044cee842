"""A fault of our own in each stage costs that stage's piece: of the command line, the page, the API, a scan."""

from __future__ import annotations

import html
import json
import os
import pkgutil
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from diagnose import cli, inputs
from diagnose.bulkhead import collecting, guarded
from diagnose.errors import DiagnoseError
from diagnose.model import Diagnosis, Report
from diagnose.rendering import failed
from diagnose.rendering.json import as_dict
from diagnose.rendering.labels import LABELS
from diagnose.scanning import workers
from diagnose.scanning.log import ScannedLog, scan_log
from diagnose.web import create_app

pytestmark = pytest.mark.faults

#: What no answer may be without: `as_dict`'s keys.
CONTRACT = [
    "schema", "quoted", "source", "verdict", "error", "mismatch", "frames", "libraries", "culprit", "strays",
    "operands", "causes",
    "ranks", "fallout", "nearest", "questions", "sources", "unused_sources", "incomplete", "advice",
    "described", "seen",
]  # fmt: skip
GOOD = """\
Traceback (most recent call last):
  File "/home/user/project/net.py", line 12, in forward
    return x + self.pe[:, : x.size(1)]
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""
#: The report in which the stages fail. It has edits and several causes, and asks questions (`unsure`).
POISONED = """\
Traceback (most recent call last):
  File "/home/user/project/poison.py", line 9, in step
    y = a + b
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""
SECRET = "what the user pasted"

#: Where a piece is made -> what the answer then lacks, for each or the first of its causes.
PIECES = {
    "diagnose.fixes.edit": "/fixes/",
    "diagnose.scene.scene.Scene._read": "sources",
    "diagnose.sources.sources.Sources.claimed": "sources",
    "diagnose.pipeline.values": "values",
    "diagnose.pipeline.for_cause": "/fixes",
    "diagnose.pipeline.snippet": "/verification",
    "diagnose.pipeline._evidence": "/evidence",
    "diagnose.pipeline.ask": "questions",
    "diagnose.ranking.questions._put": "questions/",
    "diagnose.pipeline.nearest": "nearest",
    "diagnose.pipeline.likely": "nearest",
    "diagnose.pipeline._culprit": "culprit",
}
#: A piece of the command line's answers, where no page reads one.
REMEMBERED = {"diagnose.memory.lookup.seen": "seen"}
#: Where a stage is called without which there is no answer -> its name.
STAGES = {
    "diagnose.pipeline.parse_stream": "parsing",
    "diagnose.pipeline.fact_stage.read": "facts",
    "diagnose.pipeline.ranking": "ranking",
}
RENDERERS = {
    "text": "diagnose.rendering.text.render",
    "full": "diagnose.rendering.full.render",
    "json": "diagnose.rendering.json.render",
    "markdown": "diagnose.rendering.markdown.render",
}
FAULTS = [IndexError, MemoryError, RecursionError]

Poison = Callable[..., None]


@pytest.fixture(autouse=True)
def unsure(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cause counts as sure, so that questions are asked whatever the weights say of `POISONED`."""
    monkeypatch.setattr("diagnose.ranking.questions.SURE", 1.1)


@pytest.fixture
def poison(monkeypatch: pytest.MonkeyPatch) -> Poison:
    """Makes a function fail while ``poison.txt`` is answered, or always."""
    read: list[str] = []

    def put(target: str, fault: type[Exception] = IndexError, *, always: bool = False) -> None:
        real: Any = pkgutil.resolve_name(target)

        def fails(*args: Any, **named: Any) -> Any:
            if always or read[-1].endswith("poison.txt"):
                raise fault(SECRET)
            return real(*args, **named)

        def opened(name: str) -> Any:
            read.append(name)
            return inputs.opened(name)

        monkeypatch.setattr(target, fails)
        monkeypatch.setattr("diagnose.answers.opened", opened)
        monkeypatch.setattr("diagnose.scanning.log.opened", opened)

    return put


@pytest.fixture
def logs(tmp_path: Path) -> list[str]:
    """Three inputs; the second is the one in which the stages fail."""
    names = []
    for name, text in (("a.txt", GOOD), ("poison.txt", POISONED), ("b.txt", GOOD)):
        (tmp_path / name).write_text(text)
        names.append(str(tmp_path / name))
    return names


@pytest.fixture
def client(casebase_path: Path) -> FlaskClient:
    return create_app(casebase_path).test_client()


def run(*args: str) -> object:
    """The exit status of the command line, in this process."""
    with pytest.raises(SystemExit) as end:
        cli.main(list(args))
    return end.value.code


# --- the command line -----------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("target", "piece"), (PIECES | REMEMBERED).items())
def test_a_piece_that_fails_is_named_and_the_rest_is_there(
    target: str,
    piece: str,
    fault: type[Exception],
    poison: Poison,
    logs: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("--format", "json", *logs)
    whole = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    poison(target, fault)
    status = run("--format", "json", *logs)
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert status == 0
    assert [answers[0], answers[2]] == [whole[0], whole[2]]
    hurt, sound = answers[1], whole[1]
    assert list(hurt) == CONTRACT
    assert hurt["incomplete"]
    assert all(piece in name for name in hurt["incomplete"])
    assert (hurt["verdict"], hurt["error"]) == (sound["verdict"], sound["error"])
    assert [c["id"] for c in hurt["causes"]] == [c["id"] for c in sound["causes"]]


def test_a_description_that_cannot_be_read_leaves_what_the_message_says(
    poison: Poison, logs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = POISONED.rpartition("\n  ")[2].partition("\n")[2]
    told = "I have put my model on the GPU, but when it is called then I get this, and I do not know why:\n"
    (tmp_path / "poison.txt").write_text(told + message)
    run("--format", "json", *logs)
    sound = json.loads(capsys.readouterr().out.splitlines()[1])
    assert sound["described"]
    poison("diagnose.parsing.describing.described")
    assert run("--format", "json", *logs) in (0, 1)
    hurt = json.loads(capsys.readouterr().out.splitlines()[1])
    assert (hurt["incomplete"], hurt["described"]) == (["description"], False)
    assert (hurt["error"], hurt["mismatch"]) == (sound["error"], sound["mismatch"])
    assert hurt["causes"]


@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_one_line_says_what_is_left_out(
    form: str, lang: str, poison: Poison, logs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    poison("diagnose.pipeline.ask")
    run("--no-group", "--format", form, "--lang", lang, *logs)
    shown = capsys.readouterr()
    said = LABELS[lang]["incomplete"].format(pieces="questions")  # type: ignore[index]
    assert shown.out.replace("\\_", "_").replace("\n", " ").count(said) == 1
    assert SECRET not in shown.out + shown.err


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("target", "stage"), STAGES.items())
def test_without_a_stage_the_verdict_is_failed_and_the_others_are_answered(
    target: str,
    stage: str,
    fault: type[Exception],
    poison: Poison,
    logs: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    poison(target, fault)
    status = run("--format", "json", *logs)
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert status == 4
    assert [a["verdict"] for a in answers] == ["diagnosed", "failed", "diagnosed"]
    assert [a["source"] for a in answers] == logs
    assert list(answers[1]) == CONTRACT
    assert answers[1]["incomplete"] == [stage]
    if stage != "parsing":
        assert answers[1]["error"]["family"] == "device-placement"
        assert answers[1]["culprit"]["line"] == 9


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.parametrize("target", ["diagnose.pipeline.ranking", "diagnose.pipeline.parse_stream"])
def test_an_answer_that_failed_says_whose_fault_it_is(
    target: str,
    form: str,
    lang: str,
    poison: Poison,
    logs: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    poison(target)
    assert run("--no-group", "--format", form, "--lang", lang, *logs) == 4
    out = capsys.readouterr().out
    assert out.count("/home/user/project/net.py") >= 2  # the others
    assert ("poison.py" in out) == ("rank" in target)
    assert "DIAGNOSE_DEBUG=1" in out
    assert SECRET not in out


@pytest.mark.parametrize(("form", "target"), RENDERERS.items())
def test_a_renderer_that_fails_leaves_the_last_resort(
    form: str, target: str, poison: Poison, logs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    poison(target)
    assert run("--no-group", "--format", form, *logs) == 4
    out = capsys.readouterr().out
    assert failed.render(logs[1], form, "en") in out
    if form == "json":
        answers = [json.loads(line) for line in out.splitlines()]
        assert [a["verdict"] for a in answers] == ["diagnosed", "failed", "diagnosed"]


def test_the_last_resort_keeps_the_contract() -> None:
    answer = json.loads(failed.render("a.log", "json", "en"))
    assert answer == {
        **as_dict(Diagnosis(Report("a.log"), "failed")),
        "quoted": ["$.source"],
        "incomplete": ["rendering"],
    }
    assert list(answer) == CONTRACT


def test_bad_input_goes_before_a_fault(
    poison: Poison, logs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    poison("diagnose.pipeline.ranking")
    assert run("--no-group", *logs, "missing.txt") == 2


def test_debugging_shows_the_reason(
    poison: Poison,
    logs: list[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    poison("diagnose.pipeline.ask")
    run("--no-group", *logs)
    assert not caplog.records
    monkeypatch.setenv("DIAGNOSE_DEBUG", "1")
    run("--no-group", *logs)
    (record,) = caplog.records
    assert (record.name, record.getMessage()) == ("diagnose", "questions failed")
    assert record.exc_info is not None
    assert record.exc_info[0] is IndexError


def test_a_fault_outside_the_bulkheads_is_a_sentence(
    poison: Poison, logs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    poison("diagnose.answers.columns", always=True)  # a renderer's; then its last resort
    poison("diagnose.rendering.failed.render", always=True)
    assert run("--no-group", *logs) == 4
    error = capsys.readouterr().err
    assert error.startswith("Error: internal error: IndexError at ")
    assert SECRET not in error
    assert "Traceback" not in error


# --- a scan ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "kinds"),
    [
        ("diagnose.scanning.log.parse_failures", 1),
        ("diagnose.scanning.log.key", 1),
        ("diagnose.pipeline.ranking", 2),
        ("diagnose.scanning.log.scan_stream", 1),
    ],
)
def test_a_log_that_fails_is_told_and_the_table_has_the_others(
    target: str,
    kinds: int,
    poison: Poison,
    logs: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    poison(target)
    assert run("--group", "--jobs", "1", "--format", "json", *logs) == 1
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert len(found["failures"]) == kinds
    assert {name for one in found["failures"] for name in one["log_names"]} >= {logs[0], logs[2]}
    (fault,) = found["faults"]
    assert fault.startswith(f"{logs[1]}: internal error, without ")
    assert fault in shown.err
    assert SECRET not in shown.err + shown.out


def test_a_scan_of_which_nothing_is_left_has_a_status_of_its_own(
    poison: Poison, logs: list[str]
) -> None:
    poison("diagnose.scanning.log.key", always=True)
    assert run("--group", "--jobs", "1", *logs) == 4


def _deadly(log: tuple[str, int]) -> ScannedLog:
    name = log[0]
    if name.endswith("poison.txt"):
        os.kill(os.getpid(), signal.SIGKILL)
    return scan_log(name)


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_log_that_kills_its_worker_costs_no_other(
    logs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_scan", _deadly)
    done = dict(workers.scan([(name, i) for i, name in enumerate([*logs, *logs])], 2))
    by_name = {scanned.log: scanned for scanned in done}
    assert set(by_name) == set(logs)
    (fault,) = by_name[logs[1]].faults
    assert "its process died" in fault
    assert by_name[logs[0]].occurrences
    assert by_name[logs[2]].occurrences


# --- the page and the API -------------------------------------------------------------------------

WEB_STAGES = ["diagnose.pipeline.parse", *list(STAGES)[1:]]


@pytest.mark.parametrize("target", [*WEB_STAGES, "diagnose.web.pages.render_template"])
def test_the_page_keeps_the_paste_and_shows_an_id(
    target: str, poison: Poison, client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    poison(target, always=True)
    response = client.post("/", data={"text": POISONED})
    assert response.status_code == 500
    assert html.escape(POISONED.splitlines()[2]) in response.text
    assert SECRET not in response.text
    (id,) = re.findall(r"\(id ([0-9a-f]{8})\)", response.text)
    assert f"fault {id} in pages.answer" in caplog.text
    assert "IndexError at " in caplog.text
    assert "poison" not in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize("target", WEB_STAGES)
def test_the_api_gives_a_problem_with_an_id(
    target: str, poison: Poison, client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    poison(target, always=True)
    response = client.post("/api/v1/diagnoses", json={"text": POISONED})
    assert response.status_code == 500
    assert response.mimetype == "application/problem+json"
    problem = response.get_json()
    assert problem["id"] in problem["detail"]
    assert f"fault {problem['id']} in api.diagnoses" in caplog.text
    assert SECRET not in response.text + caplog.text


@pytest.mark.parametrize(("target", "piece"), [(t, p) for t, p in PIECES.items() if p != "sources"])
def test_the_page_and_the_api_answer_without_a_piece(
    target: str,
    piece: str,
    poison: Poison,
    client: FlaskClient,
    caplog: pytest.LogCaptureFixture,
) -> None:
    poison(target, always=True)
    page = client.post("/", data={"text": POISONED})
    assert page.status_code == 200
    assert "Left out because of an internal error: " in page.text
    assert piece in page.text
    answer = client.post("/api/v1/diagnoses", json={"text": POISONED}).get_json()
    assert all(piece in name for name in answer["incomplete"])
    assert "an answer lacks" in caplog.text
    assert SECRET not in page.text + caplog.text


def test_an_excerpt_that_fails_leaves_the_answer(poison: Poison, client: FlaskClient) -> None:
    poison("diagnose.web.pages.excerpt", always=True)
    page = client.post("/", data={"text": GOOD})
    assert page.status_code == 200
    assert "internal error: excerpt" in page.text


# --- the bulkhead itself --------------------------------------------------------------------------


def test_what_is_no_fault_of_ours_passes() -> None:
    def raises(error: BaseException) -> Callable[[], None]:
        def fails() -> None:
            raise error

        return fails

    for error in (DiagnoseError("sentence"), KeyboardInterrupt(), SystemExit(3)):
        with collecting() as missing, pytest.raises(type(error)):
            guarded("piece", raises(error), None)
        assert missing == []


def test_pieces_are_collected_by_the_innermost_block() -> None:
    with collecting() as outer:
        assert guarded("first", lambda: 1 // 0, "none") == "none"
        with collecting() as inner:
            guarded("second", lambda: 1 // 0, None)
        assert guarded("third", lambda: 3, None) == 3
    assert [piece.what for piece in outer] == ["first"]
    assert [piece.what for piece in inner] == ["second"]
    assert outer[0].fault.startswith("ZeroDivisionError at ")
    assert guarded("no block", lambda: 1 // 0, None) is None
