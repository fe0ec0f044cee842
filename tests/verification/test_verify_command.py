"""`diagnose verify`: which options do what, and whose exit status it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from diagnose.casebase.store import Casebase
from diagnose.verification.command import verify_command
from diagnose.verification.snippet import snippet

SCRIPTS = Path(__file__).parent / "scripts"


def verify(*args: str | Path) -> Result:
    return CliRunner().invoke(
        verify_command, [str(arg) for arg in args], prog_name="diagnose verify"
    )


def verify_in_process(*args: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "diagnose", "verify", *args], capture_output=True, text=True
    )


def test_cause_prints_its_program(casebase: Casebase) -> None:
    result = verify("rank-device")
    assert result.exit_code == 0
    assert result.stdout == snippet(casebase.causes["rank-device"], None, None, casebase)


def test_incident_prints_the_program_of_its_cause_with_its_facts(casebase: Casebase) -> None:
    incident = casebase.incidents["easyedit-memit-delta"]
    program = verify(incident.id).stdout
    assert f'CAUSE = "{incident.cause}"' in program
    assert all(f'"{device}"' in program for device in incident.devices)


def test_unknown_id_is_bad_usage() -> None:
    result = verify("no-such-cause")
    assert result.exit_code == 2
    assert "'no-such-cause'" in result.stderr


def test_write_makes_the_file_and_renews_it(tmp_path: Path) -> None:
    target = tmp_path / "verify.py"
    assert verify("rank-device", "--write", target).exit_code == 0
    assert target.read_text(encoding="utf-8") == verify("rank-device").stdout
    assert verify("--write", target, "meta-tensor").exit_code == 0
    assert 'CAUSE = "meta-tensor"' in target.read_text(encoding="utf-8")


def test_write_spares_other_files(tmp_path: Path) -> None:
    target = tmp_path / "train.py"
    target.write_text("my_work = 1\n")
    assert verify("rank-device", "--write", target).exit_code == 2
    assert target.read_text() == "my_work = 1\n"


@pytest.mark.parametrize(
    "args",
    [
        ["rank-device", "--run", "--simulate"],
        ["rank-device", "--write", "x.py", "--simulate"],
        ["rank-device", "--wording", "old"],
        ["rank-device", "--gpus", "2"],
        ["rank-device", "--simulate", "--steps", "2"],
        [],
    ],
)
def test_options_that_make_no_sense_together_are_refused(args: list[str]) -> None:
    assert verify(*args).exit_code == 2


@pytest.fixture
def command_line(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command lines of the processes that would be started."""
    started: list[list[str]] = []

    class Process:
        def __init__(self, command: list[str]) -> None:
            started.append(command)

        def __enter__(self) -> Process:
            return self

        def __exit__(self, *exception: object) -> None:
            pass

        def wait(self) -> int:
            return 0

    monkeypatch.setattr(subprocess, "Popen", Process)
    return started


@pytest.mark.parametrize(
    ("args", "simulator", "arguments"),
    [
        (["rank-device", "--run"], [], []),
        (["rank-device", "--simulate"], ["--gpus", "2", "--wording", "new"], []),
        (
            ["rank-device", "--simulate", "--gpus", "1", "--wording=old"],
            ["--gpus", "1", "--wording", "old"],
            [],
        ),
        (["rank-device", "train.py"], [], ["train.py"]),
        # What follows the script is the script's, whatever it looks like.
        (
            ["rank-device", "train.py", "--run", "--gpus", "8"],
            [],
            ["train.py", "--run", "--gpus", "8"],
        ),
        (
            ["--steps", "3", "rank-device", "train.py", "--", "-x"],
            [],
            ["--steps", "3", "train.py", "--", "-x"],
        ),
        (["rank-device", "--gpus", "1", "train.py"], [], ["--gpus", "1", "train.py"]),
        (["rank-device", "--", "train.py", "--help"], [], ["train.py", "--help"]),
    ],
)
def test_run_passes_on_what_belongs_to_whom(
    command_line: list[list[str]], args: list[str], simulator: list[str], arguments: list[str]
) -> None:
    assert verify(*args).exit_code == 0
    (command,) = command_line
    where = next(at for at, word in enumerate(command) if word.endswith("verify.py"))
    assert command[0] == sys.executable
    assert command[1:where] == (
        ["-m", "diagnose.verification.simulate", *simulator] * bool(simulator)
    )
    assert command[where + 1 :] == arguments


def test_script_fails_and_its_repair_passes_on_simulated_gpus() -> None:
    pytest.importorskip("torch")
    script = SCRIPTS / "module_census.py"
    failing = verify_in_process("submodule-added-after-move", "--simulate", script, "failing")
    assert failing.returncode == 1, failing.stderr
    assert "FAIL: 2.weight, 2.bias are on cpu" in failing.stdout
    fixed = verify_in_process("submodule-added-after-move", "--simulate", script, "fixed")
    assert fixed.returncode == 0, fixed.stderr
    assert fixed.stdout.splitlines()[-1].startswith("PASS: ")


def test_machine_without_gpus_is_status_2() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has GPUs")
    result = verify_in_process("rank-device", "--run")
    assert result.returncode == 2, result.stderr
    assert result.stdout.splitlines()[-1] == "NOT RUN: too few GPUs: needs 2, 0 visible"
