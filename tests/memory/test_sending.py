"""Failures that the command line and the hook report to a service."""

from __future__ import annotations

import io
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from memory.conftest import CASES, trace
from memory.test_remember import run
from werkzeug.serving import make_server

from diagnose.casebase.store import load
from diagnose.memory.key import key
from diagnose.memory.redaction import redactor
from diagnose.memory.sending import SendingError, job, printed, rank, send
from diagnose.model import Diagnosis
from diagnose.parsing import parse
from diagnose.web import create_app

ONE = trace("easyedit-memit-delta")
SECRET = "hf_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3f"


@pytest.fixture
def server(casebase_path: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a service with an empty store."""
    app = create_app(casebase_path, store=str(tmp_path / "store" / "memory.sqlite"))
    serving = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{serving.server_port}"
    serving.shutdown()
    thread.join()


def test_the_command_line_reports_without_secrets(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "job.log"
    log.write_text(f"HF_TOKEN={SECRET}\n{ONE.replace('/home/user/', '/home/ana/')}")
    assert run("--server", server, str(log)) == 0
    shown = capsys.readouterr()
    assert "Because" in shown.out
    address = re.findall(r"reported as (\S+)", shown.err)[0]
    import urllib.request

    with urllib.request.urlopen(address) as answer:
        page = answer.read().decode()
    assert "Tensors from two model shards are combined" in page
    assert SECRET not in page
    assert "/home/ana" not in page
    assert socket.gethostname() in page


def test_a_folder_reports_each_kind_of_failure_once(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("a", ONE), ("b", ONE), ("c", trace("gr00t-new-action-head"))):
        (tmp_path / f"{name}.log").write_text(text)
    assert run("--server", server, str(tmp_path)) == 1
    assert len(set(re.findall(r"reported as (\S+)", capsys.readouterr().err))) == 2


def test_host_names_are_secrets_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    rules, text = load().redaction().rules, "failed on node7.cluster.internal"
    assert redactor(rules)(text).text == text
    monkeypatch.setenv("DIAGNOSE_REDACT", "hosts")
    assert "node7" not in redactor(rules)(text).text


def test_the_server_alone_brings_back_what_is_remembered(
    casebase_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], server: str
) -> None:
    log, where = tmp_path / "job.log", str(tmp_path / "store" / "memory.sqlite")
    log.write_text(ONE)
    command = ("--store", "none", "--server", server, str(log))
    assert run(*command) == 0
    assert "Seen" not in capsys.readouterr().out
    assert (
        run("remember", "--store", where, "--fixed-by", "pass device=", "--by", "ana", str(log))
        == 0
    )
    capsys.readouterr()
    assert run(*command) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith("Seen 2 times")
    assert "fixed by ana (worked as written 1): pass device=" in shown


@pytest.mark.parametrize(
    "said", ["{}", '{"url": 1}', '{"url": "/r/x", "seen": {"group": 1}}', "[]"]
)
def test_a_service_that_answers_nonsense_costs_no_answer(
    said: str, monkeypatch: pytest.MonkeyPatch, answered: Callable[[str], Diagnosis]
) -> None:
    class Answer(io.BytesIO):
        status = 201

    monkeypatch.setattr("diagnose.memory.sending.urlopen", lambda *_, **__: Answer(said.encode()))
    with pytest.raises(SendingError, match="could not be sent"):
        send("http://127.0.0.1", answered(ONE))


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.1:1", "could not be sent"),
        ("ftp://example.org", "no address of a service"),
        ("file:///etc/passwd", "no address of a service"),
    ],
)
def test_a_service_that_is_not_there_costs_no_answer(
    address: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.log").write_text(ONE)
    assert run("--server", address, str(tmp_path / "job.log")) == 0
    shown = capsys.readouterr()
    assert "Because" in shown.out
    assert said in shown.err


def test_a_refusal_says_why(casebase_path: Path, answered: Callable[[str], Diagnosis]) -> None:
    app = create_app(casebase_path)  # without a store
    serving = make_server("127.0.0.1", 0, app)
    thread = threading.Thread(target=serving.handle_request)
    thread.start()
    with pytest.raises(SendingError, match="nothing at this address"):
        send(f"http://127.0.0.1:{serving.server_port}/", answered(ONE))
    thread.join()
    serving.server_close()


def test_the_ranks_of_a_job_are_one_line(
    server: str, answered: Callable[[str], Diagnosis], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    sent = []
    for number in range(12):
        monkeypatch.setenv("RANK", str(number))
        sent.append(send(server, answered(ONE)))
    assert {one.url for one in sent} == {sent[0].url}
    assert [one.new for one in sent] == [True, *[False] * 11]


def test_the_hook_reports_and_says_where(server: str, casebase_path: Path) -> None:
    program = (
        f"import diagnose\ndiagnose.install(server={server!r}, seconds=600)\n"
        "raise RuntimeError('Expected all tensors to be on the same device, but found at least two"
        " devices, cuda:0 and cpu!')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert "reported as http" in done.stderr


def test_what_is_sent_has_the_same_key() -> None:
    knowledge = load().knowledge
    same = total = 0
    for path in sorted(CASES.glob("*/trace.txt"))[::4]:
        report = parse(path.read_text(encoding="utf-8"), knowledge=knowledge)
        if report.error is None:
            continue
        again = parse(printed(report), knowledge=knowledge)
        total += 1
        same += again.error is not None and key(again).digest == key(report).digest
    assert total > 70
    assert same / total >= 0.99


def test_what_launchers_say(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "LSB_JOBID", "PBS_JOBID", "RAY_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"):
        monkeypatch.delenv(name, raising=False)
    assert (job(), list(rank())) == (None, [])
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("SLURM_JOB_ID", "12")
    monkeypatch.setenv("SLURM_PROCID", "3")
    assert (job(), list(rank())) == ("12", [3])


def test_an_answer_is_redacted_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "job.log"
    log.write_text(ONE.replace("/home/user/", "/home/ana/").replace("cuda:0!", f"cuda:0! {SECRET}"))
    for form in ("text", "full", "markdown", "json"):
        assert run("--redact", "--format", form, str(log)) == 0
        shown = capsys.readouterr()
        assert "/home/ana" not in shown.out
        assert SECRET not in shown.out
        assert "taken out: " in shown.err
    assert run("--format", "json", str(log)) == 0
    assert "/home/ana" in capsys.readouterr().out
