"""Scripts on simulated GPUs: tracebacks, exit status, the command line."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import forked
import pytest

from diagnose.simulation import run_script, simulated_gpus, strip_simulator_frames
from diagnose.simulation.__main__ import main

FAILING = """
    import torch
    from torch import nn

    def forward(model, data):
        return model(data)

    forward(nn.Linear(4, 2).cuda(), torch.ones(3, 4))
"""


def script(folder: Path, source: str) -> Path:
    path = folder / "train.py"
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    return path


def test_traceback_is_the_interpreters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(tmp_path, FAILING)
    assert run_script(path) == 1
    printed = capsys.readouterr().err
    lines = printed.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == f'  File "{path}", line 8, in <module>'
    assert "verification" not in printed
    frames = [line.split(", in ")[-1] for line in lines if line.startswith('  File "')]
    expected = ["<module>", "forward", "_wrapped_call_impl", "_call_impl", "forward"]
    assert frames == expected
    assert lines[-1] == (
        "RuntimeError: Expected all tensors to be on the same device, but got mat1 is on cpu, "
        "different from other tensors on cuda:0 (when checking argument in method "
        "wrapper_CUDA_addmm)"
    )


def test_errors_that_a_script_prints_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = """
        import logging, sys, traceback, torch
        try:
            torch.ones(2, device="cuda").to("cuda:1") + torch.ones(2)
        except RuntimeError:
            traceback.print_exc()
            print(logging.Formatter().formatException(sys.exc_info()), file=sys.stderr)
            torch.nn.functional.one_hot(torch.tensor([1.5], device="cuda"))
    """
    assert run_script(script(tmp_path, source)) == 1
    printed = capsys.readouterr().err
    assert printed.count("cuda:1 and cpu!") == 3
    assert "During handling of the above exception" in printed
    assert "verification" not in printed


def test_errors_in_backward(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = """
        import torch
        leaf = torch.ones(2, device="cuda", requires_grad=True)
        result = leaf * 2
        result.register_hook(lambda gradient: gradient + torch.ones(2))
        result.sum().backward()
    """
    assert run_script(script(tmp_path, source)) == 1
    printed = capsys.readouterr().err
    assert "in <lambda>" in printed
    assert "verification" not in printed


@pytest.mark.parametrize(
    ("ending", "status", "printed"),
    [
        ("", 0, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("sys.exit('no data')", 1, "no data\n"),
        ("raise SystemExit(256 + 7)", 7, ""),
    ],
)
def test_exit_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str, status: int, printed: str
) -> None:
    assert run_script(script(tmp_path, f"import sys\n{ending}\n")) == status
    assert capsys.readouterr().err == printed


def test_script_sees_its_own_world(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "helper.py").write_text("VALUE = 5\n", encoding="utf-8")
    source = """
        import os, sys, torch, helper, __main__
        assert __name__ == "__main__" and __main__.helper is helper
        print(sys.argv[1:], torch.cuda.device_count(), os.environ["DIAGNOSE_SIMULATED_GPUS"],
              os.environ["MINE"], helper.VALUE, os.path.basename(__file__))
    """
    before = sys.argv[:], sys.path[:], dict(os.environ), sys.modules["__main__"]
    status = run_script(script(tmp_path, source), ["--lr", "1"], gpus=3, env={"MINE": "x"})
    sys.modules.pop("helper", None)
    assert status == 0
    assert capsys.readouterr().out == "['--lr', '1'] 3 3 x 5 train.py\n"
    assert (sys.argv[:], sys.path[:], dict(os.environ), sys.modules["__main__"]) == before


def test_the_scripts_excepthook_is_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = """
        import sys, torch
        def hook(kind, error, trace):
            names = []
            while trace:
                names.append(trace.tb_frame.f_code.co_filename.rpartition("/")[2])
                trace = trace.tb_next
            print("hooked", kind.__name__, names)
        sys.excepthook = hook
        torch.ones(2).cuda() + torch.ones(2)
    """
    assert run_script(script(tmp_path, source)) == 1
    assert capsys.readouterr().out == "hooked RuntimeError ['train.py']\n"
    assert sys.excepthook is not None


def test_syntax_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_script(script(tmp_path, "def broken(:\n    pass\n")) == 1
    printed = capsys.readouterr().err
    assert "SyntaxError" in printed
    assert "verification" not in printed


def test_missing_script(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run_script(tmp_path / "none.py")


def test_frames_are_gone_outside_the_context() -> None:
    import torch

    with pytest.raises(RuntimeError) as caught, simulated_gpus(1):
        torch.ones(2).cuda() + torch.ones(2)
    strip_simulator_frames(caught.value)
    trace, files = caught.value.__traceback__, []
    while trace is not None:
        files.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    assert files == [__file__]


def test_command_line(tmp_path: Path) -> None:
    path = script(tmp_path, FAILING)
    command = [forked.python(), "-m", "diagnose.simulation", "--gpus", "1"]
    done = subprocess.run(
        [*command, "--wording", "old", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        "(when checking argument for argument mat1 in method wrapper_CUDA_addmm)"
    )
    assert "verification" not in done.stderr


@pytest.mark.parametrize("arguments", [[], ["--gpus", "x", "a.py"], ["/no/such/script.py"]])
def test_bad_usage(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2


def test_without_torch() -> None:
    source = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "from diagnose.simulation import simulated_gpus\n"
        "try:\n"
        "    with simulated_gpus(): pass\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert done.stdout == "simulated GPUs need torch 2.13 or later: pip install torch\n"
