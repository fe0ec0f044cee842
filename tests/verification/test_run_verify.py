"""`diagnose run --verify`: which options do what, and whose exit status it is."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from forked import command

from diagnose.casebase.store import Casebase
from diagnose.commands.doors import doors
from diagnose.model import DEVICE_FAMILY
from diagnose.parsing import parse
from diagnose.pipeline import diagnose
from diagnose.verification.program import any_cause, loaded, program
from diagnose.verification.snippet import snippet

SCRIPTS = Path(__file__).parent / "scripts"
KB = Path(__file__).parents[2] / "kb"
TRACES = Path(__file__).parents[1] / "traces"


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(doors, [str(arg) for arg in args], prog_name="diagnose")


def run_in_process(*args: str | Path) -> subprocess.CompletedProcess[str]:
    return command(Path.cwd(), *map(str, args))


def snippet_of(ident: str) -> str:
    return run("explain", ident, "--verification").stdout


def test_cause_prints_its_snippet(casebase: Casebase) -> None:
    result = run("explain", "rank-device", "--verification")
    assert result.exit_code == 0
    assert result.stdout == snippet(casebase.causes["rank-device"], None, None, casebase)


def test_incident_prints_the_snippet_of_its_cause_with_its_devices(casebase: Casebase) -> None:
    incident = casebase.incidents["easyedit-memit-delta"]
    first = snippet_of(incident.id).splitlines()[0]
    assert casebase.causes[incident.cause].title in first
    assert all(device in first for device in incident.devices)


def test_unknown_id_is_bad_usage() -> None:
    result = run("run", "--verify=no-such-cause", "train.py")
    assert result.exit_code == 2
    assert "no-such-cause" in result.stderr


def test_output_makes_the_file_and_renews_it(tmp_path: Path) -> None:
    target = tmp_path / "verify.py"
    assert run("explain", "rank-device", "--verification", "-o", target).exit_code == 0
    assert target.read_text(encoding="utf-8") == snippet_of("rank-device")
    assert run("explain", "--verification", "--output", target, "meta-tensor").exit_code == 0
    assert target.read_text(encoding="utf-8") == snippet_of("meta-tensor")


def test_output_spares_other_files(tmp_path: Path) -> None:
    target = tmp_path / "train.py"
    target.write_text("my_work = 1\n")
    assert run("explain", "rank-device", "--verification", "-o", target).exit_code == 2
    assert target.read_text() == "my_work = 1\n"


@pytest.mark.parametrize(
    "args",
    [
        ["run", "--steps", "2", "train.py"],
        ["run", "--simulate=lots", "train.py"],
        ["run", "--simulate=65", "train.py"],
        ["run", "--output", "x.json", "train.py"],
        ["run", "--verify", "torchrun", "--nproc-per-node", "2", "train.py"],
        ["run"],
    ],
)
def test_options_that_make_no_sense_together_are_refused(args: list[str]) -> None:
    assert run(*args).exit_code == 2


@pytest.fixture
def command_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The command lines of the processes that would be started, in a folder with a script."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").touch()
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
        (["--verify=rank-device"], [], []),
        (["--verify=rank-device", "--simulate"], ["--gpus", "2", "--wording", "new"], []),
        (
            ["--simulate=1", "--wording=old", "--verify=rank-device"],
            ["--gpus", "1", "--wording", "old"],
            [],
        ),
        (["--verify=rank-device", "train.py"], [], ["train.py"]),
        (["--verify=rank-device", "-m", "train", "-x"], [], ["-m", "train", "-x"]),
        (["--verify=rank-device", "python", "train.py"], [], ["train.py"]),
        # What follows the script is the script's, whatever it looks like.
        (["--verify", "train.py", "--simulate", "-m"], [], ["train.py", "--simulate", "-m"]),
        (
            ["--steps", "3", "--verify=rank-device", "train.py", "--", "-x"],
            [],
            ["--steps", "3", "train.py", "--", "-x"],
        ),
        (["--verify=rank-device", "--", "train.py", "--help"], [], ["train.py", "--help"]),
    ],
)
def test_run_passes_on_what_belongs_to_whom(
    command_line: list[list[str]], args: list[str], simulator: list[str], arguments: list[str]
) -> None:
    assert run("run", *args).exit_code == 0
    (command,) = command_line
    where = next(at for at, word in enumerate(command) if word.endswith("verify.py"))
    assert command[0] == sys.executable
    runner = "diagnose.hooks.verification" if arguments else "diagnose.simulation"
    assert command[1:where] == (["-m", runner, *simulator] if simulator or arguments else [])
    assert command[where + 1 :] == arguments


def test_script_fails_and_its_repair_passes_on_simulated_gpus() -> None:
    pytest.importorskip("torch")
    script = SCRIPTS / "module_census.py"
    failing = run_in_process(
        "run", "--simulate", "--verify=submodule-added-after-move", script, "failing"
    )
    assert failing.returncode == 1, failing.stderr
    assert "FAIL: 2.weight, 2.bias are on cpu" in failing.stdout
    fixed = run_in_process(
        "run", "--simulate", "--verify=submodule-added-after-move", script, "fixed"
    )
    assert fixed.returncode == 0, fixed.stderr
    assert fixed.stdout.splitlines()[-1].startswith("PASS: ")


def test_machine_without_gpus_is_status_2() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has GPUs")
    result = run_in_process("run", "--verify=rank-device")
    assert result.returncode == 2, result.stderr
    assert result.stdout.splitlines()[-1] == "NOT RUN: too few GPUs: needs 2, 0 visible"


# --- from a report, and without a cause -----------------------------------------------------------

REPORT = """\
Traceback (most recent call last):
  File "/home/user/module_census.py", line 10, in <module>
    model(torch.randn(2, 4, device="cuda:0"))
  File "/env/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 125, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 \
and cpu! (when checking argument for argument mat2 in method wrapper_CUDA_addmm)
"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "traceback.txt"
    path.write_text(REPORT, encoding="utf-8")
    return path


def test_a_report_gives_cause_devices_operation_and_line(report: Path, casebase: Casebase) -> None:
    program = run("--verification", "-", report).stdout
    found = diagnose(REPORT, casebase=casebase)
    assert program == found.causes[0].verification
    assert "cuda:0 and cpu met at module_census.py:10" in program.splitlines()[0]


def test_a_report_on_standard_input(report: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "diagnose", "--verification", "-"],
        input=REPORT.encode(),
        capture_output=True,
    )
    assert done.stdout.decode() == run("--verification", "-", report).stdout


def test_the_users_own_script_is_checked_for_what_its_report_says(report: Path) -> None:
    pytest.importorskip("torch")
    script = SCRIPTS / "module_census.py"
    failing = run_in_process("run", f"--verify={report}", "--simulate", script, "failing")
    assert failing.returncode == 1, failing.stderr
    # The answer tells the line that made what met, of this run and not of the report's.
    assert "created at" in failing.stderr
    untraced = run_in_process("run", "--verify", "--no-trace", "--simulate", script, "failing")
    assert "created at" not in untraced.stderr
    assert "the report: cuda:0 and cpu in wrapper_CUDA_addmm" in failing.stdout
    assert "(the report's module_census.py:10)" in failing.stdout
    fixed = run_in_process("run", f"--verify={report}", "--simulate", script, "fixed")
    assert fixed.returncode == 0, fixed.stdout


def test_without_a_cause_all_checks_watch_the_script(casebase: Casebase) -> None:
    pytest.importorskip("torch")
    script = SCRIPTS / "module_census.py"
    failing = run_in_process("run", "--verify", "--simulate", script, "failing")
    assert failing.returncode == 1, failing.stderr
    assert "2.weight, 2.bias are on cpu" in failing.stdout
    checks = [name for name in casebase.snippets if name.startswith("checks/")]
    assert failing.stdout.count("  checks that ") == len(checks) + 1
    assert run_in_process("run", "--verify", "--simulate", script, "fixed").returncode == 0


def test_as_many_gpus_are_simulated_as_the_report_names(
    command_line: list[list[str]], report: Path
) -> None:
    report.write_text(REPORT.replace("cuda:0", "cuda:3"), encoding="utf-8")
    run("run", f"--verify={report}", "--simulate", "train.py")
    assert command_line[0][command_line[0].index("--gpus") + 1] == "4"


def test_a_machine_without_gpus_is_told_of_simulated_ones() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has GPUs")
    result = run_in_process("run", "--verify", SCRIPTS / "module_census.py", "failing")
    assert result.returncode == 2
    assert result.stdout.splitlines()[-1] == "NOT RUN: too few GPUs: needs 1, 0 visible"
    assert "--simulate" in result.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["run", "--verify=missing.log"], "is no file, no cause and no incident"),
        (["run", "--verify=other.txt"], "other.txt holds no device-placement failure"),
        (["run", "--verify", "missing.py"], "there is no script missing.py"),
        (["run", "--simulate", "missing.py"], "there is no script missing.py"),
        (["run", "--simulate", "-m", "missing"], "there is no module missing"),
        (["run"], "name a script"),
    ],
)
def test_bad_input_is_a_sentence_and_status_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other.txt").write_text("all is well\n")
    result = run_in_process(*args)
    assert result.returncode == 2
    assert said in result.stderr


def test_a_case_base_that_cannot_be_read_is_status_2(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "diagnose", "explain", "rank-device", "--verification"],
        env={**os.environ, "DIAGNOSE_CASEBASE": str(tmp_path / "missing.sqlite")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_target_that_cannot_be_written_is_status_2(tmp_path: Path) -> None:
    result = run_in_process(
        "explain", "rank-device", "--verification", "-o", tmp_path / "no" / "such" / "folder.py"
    )
    assert result.returncode == 2
    assert "cannot be written" in result.stderr


def test_a_run_that_passes_is_audited_as_a_repair_is(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "copies.py"
    script.write_text(
        "import torch\n"
        "model = torch.nn.Linear(4, 2).cuda()\n"
        "scale = torch.ones(4)\n"
        "for _ in range(4):\n"
        "    model(scale.cuda())\n"
    )
    told = run_in_process("run", "--verify", "--simulate", script)
    assert told.returncode == 0, told.stderr
    assert told.stdout.splitlines()[-1].startswith("PASS")
    assert "copies.py:5: copied: " in told.stderr
    plain = run_in_process("run", "--verify", "--simulate", "--no-trace", script)
    assert "note:" not in plain.stderr


def test_the_program_takes_for_device_errors_what_the_answer_does(casebase: Casebase) -> None:
    pytest.importorskip("torch")
    watching: Any = loaded(program(any_cause(casebase), None, None, casebase), "verify.py")
    seen = 0
    for path in [*KB.glob("cases/*/trace.txt"), *TRACES.glob("*.txt")]:
        error = parse(path.read_text("utf-8"), path.name, knowledge=casebase.knowledge).error
        if error is not None and error.family == DEVICE_FAMILY:
            kind = getattr(builtins, error.type.rpartition(".")[2], RuntimeError)
            assert watching.is_device_error(kind(error.message)), path
            seen += 1
    assert seen > 300


@pytest.mark.parametrize(
    "message",
    [
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB",
        "CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported",
        "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
        "mat1 and mat2 shapes cannot be multiplied (8x4 and 3x2)",
    ],
)
def test_the_program_takes_no_other_error_for_one(casebase: Casebase, message: str) -> None:
    pytest.importorskip("torch")
    watching: Any = loaded(program(any_cause(casebase), None, None, casebase), "verify.py")
    text = f'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    f(x)\nRuntimeError: {message}\n'
    error = parse(text, "a.log", knowledge=casebase.knowledge).error
    assert error is None or error.family != DEVICE_FAMILY
    assert not watching.is_device_error(RuntimeError(message))
