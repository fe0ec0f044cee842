"""Logs of real tools (recordings.toml): runs that end well get no diagnosis, other failures no device cause."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from parsing.knowledge import parse

from diagnose._toml import loads

HERE = Path(__file__).parent
TABLE: dict[str, list[dict[str, Any]]] = loads((HERE / "recordings.toml").read_text("utf-8"))
LOGS = {entry["name"]: HERE / "logs" / f"{entry['name']}.txt" for entry in TABLE["healthy"]}
FAILURES = {entry["name"]: HERE / "failures" / f"{entry['name']}.txt" for entry in TABLE["failure"]}
EXPECTED = {entry["name"]: (entry["family"], entry["type"]) for entry in TABLE["failure"]}

Answers = tuple[int, dict[str, dict[str, Any]]]


def answers(files: list[Path]) -> Answers:
    """The exit status for the files, and what is said of each."""
    command = [sys.executable, "-m", "diagnose", "--format", "json", *map(str, files)]
    done = subprocess.run(command, capture_output=True, timeout=120)
    said = [json.loads(line) for line in done.stdout.decode().splitlines()]
    return done.returncode, {Path(answer["source"]).stem: answer for answer in said}


@pytest.fixture(scope="module")
def healthy() -> Answers:
    return answers([*LOGS.values()])


@pytest.fixture(scope="module")
def failed() -> Answers:
    return answers([*FAILURES.values()])


def docker_json(text: str) -> str:
    row = {"stream": "stderr", "time": "2025-03-04T12:00:00.123456789Z"}
    return "".join(json.dumps({"log": line + "\n", **row}) + "\n" for line in text.split("\n"))


def ranked(text: str) -> str:
    return "".join(f"[rank0]: {line}\n" for line in text.split("\n"))


def crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def kubernetes(text: str) -> str:
    return "".join(f"2025-03-04T12:00:00.123456789Z stdout F {line}\n" for line in text.split("\n"))


WRAPPINGS = [docker_json, ranked, crlf, kubernetes]


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def test_every_recording_is_there_and_small() -> None:
    paths = [*LOGS.values(), *FAILURES.values()]
    assert sorted(paths) == sorted([*HERE.glob("logs/*"), *HERE.glob("failures/*")])
    assert [path.name for path in paths if path.stat().st_size >= 12_000] == []
    assert len(LOGS) >= 30


@pytest.mark.parametrize("name", LOGS)
def test_a_healthy_run_is_not_diagnosed(name: str, healthy: Answers) -> None:
    answer = healthy[1][name]
    assert answer["error"] is None
    assert answer["mismatch"] is None
    assert answer["causes"] == []
    assert answer["verdict"] == "no-error"


def test_healthy_runs_exit_with_3(healthy: Answers) -> None:
    assert healthy[0] == 3


@pytest.mark.parametrize("wrap", WRAPPINGS)
@pytest.mark.parametrize("name", LOGS)
def test_a_healthy_run_is_not_diagnosed_through_a_transport(
    name: str, wrap: Callable[[str], str]
) -> None:
    assert parse(wrap(text_of(LOGS[name]))).error is None


def test_a_long_healthy_log_is_not_diagnosed() -> None:
    whole = "\n".join(map(text_of, LOGS.values()))
    assert parse((whole * 12).encode()).error is None


@pytest.mark.parametrize("name", FAILURES)
def test_another_failure_is_named_and_gets_no_device_cause(name: str, failed: Answers) -> None:
    answer = failed[1][name]
    family, kind = EXPECTED[name]
    assert answer["error"]["family"] == family
    assert answer["error"]["type"].split(".")[-1] == kind
    assert answer["causes"] == []
    assert answer["mismatch"] is None
    assert answer["verdict"] == "unknown"


def test_other_failures_exit_with_1(failed: Answers) -> None:
    assert failed[0] == 1


@pytest.mark.parametrize("wrap", WRAPPINGS)
@pytest.mark.parametrize("name", FAILURES)
def test_another_failure_is_named_through_a_transport(
    name: str, wrap: Callable[[str], str]
) -> None:
    error = parse(wrap(text_of(FAILURES[name]))).error
    assert error is not None
    assert error.family == EXPECTED[name][0]


GOT_OVER = LOGS["fallback-traceback-logged-retried"]


@pytest.mark.parametrize(
    ("announced", "instead"),
    [("retrying on cpu", "giving up"), ("training finished", "training stopped")],
)
def test_a_failure_that_the_log_does_not_get_over_is_diagnosed(
    announced: str, instead: str
) -> None:
    """The traceback of the retried step stands where nothing announces another try, or where the log
    ends with it."""
    text = text_of(GOT_OVER)
    if announced == "training finished":
        text = text[: re.search(r"^RuntimeError: .*\n", text, re.MULTILINE).end()]  # type: ignore[union-attr]
    error = parse(text.replace(announced, instead)).error
    assert error is not None
    assert error.family == "device-placement"
