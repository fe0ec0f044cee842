"""`diagnose run` and `python -m diagnose.hooks`: as `python SCRIPT`, and the answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hooks.children import FAILS, SIGN, SOURCE, answer_after, environment, python

RUNNER = ("-m", "diagnose.hooks")

SHOWS = """\
import os, sys
print(sys.argv, sys.path[0], __name__, __file__, __spec__, os.getcwd(), sorted(globals()))
print(sys.path, sys.flags, sys.warnoptions, sys._xoptions, 'sitecustomize' in sys.modules)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "train.py"


def test_the_script_sees_what_python_would_show_it(script: Path) -> None:
    script.write_text(SHOWS)
    arguments = [script, "--lr", "1", "--help", "-m", "--lang", "x", "--", "a b"]
    plain, run = python(*arguments), python(*RUNNER, *arguments)
    assert (run.status, run.err) == (0, "")
    # The one difference: where no sitecustomize exists, ours has been imported.
    assert run.out.replace(" True\n", " False\n") == plain.out.replace(" True\n", " False\n")


def test_the_script_sees_the_name_that_python_was_called_by(script: Path) -> None:
    script.write_text("import sys; print(sys.orig_argv, sys.executable)")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    plain, run = (
        subprocess.check_output(
            ["python", *runner, script], executable=sys.executable, env=environment(PATH=path)
        )
        for runner in ((), RUNNER)
    )
    assert run == plain


def test_options_of_the_interpreter_are_handed_on(script: Path) -> None:
    script.write_text(SHOWS)
    options = ["-u", "-O", "-X", "utf8", "-W", "error::UserWarning"]
    plain, run = python(*options, script), python(*options, *RUNNER, script)
    assert run.out.replace(" True\n", " False\n") == plain.out.replace(" True\n", " False\n")


ENDS = {
    "device failure": FAILS,
    "exit": "print('x')\nraise SystemExit(7)\n",
    "exit with words": "exit('stop')\n",
    "interrupt": "raise KeyboardInterrupt\n",
    "killed": "import os\nos.kill(os.getpid(), 15)\n",
    "syntax": "x = (\n",
    "atexit": "import atexit\natexit.register(print, 'bye')\n1 / 0\n",
}


@pytest.mark.parametrize(("kind", "program"), ENDS.items(), ids=ENDS.keys())
def test_it_ends_as_python_would(script: Path, kind: str, program: str) -> None:
    script.write_text(program)
    answer = answer_after(python(script), python(*RUNNER, script))
    assert (SIGN in answer) == (kind == "device failure")
    assert bool(answer) == (kind == "device failure")


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    plain, run = python(tmp_path / "none.py"), python(*RUNNER, tmp_path / "none.py")
    assert (run.status, run.err) == (plain.status, plain.err)


def test_a_module_can_be_run(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "__main__.py").write_text(SHOWS.splitlines()[0] + "\n" + FAILS)
    path = os.pathsep.join([environment()["PYTHONPATH"], str(tmp_path)])
    plain = python("-m", "job", PYTHONPATH=path)
    assert "RuntimeError" in plain.err
    assert SIGN in answer_after(plain, python(*RUNNER, "-m", "job", PYTHONPATH=path))


def test_python_processes_below_have_the_hook_too(script: Path) -> None:
    worker = script.with_name("worker.py")
    worker.write_text(FAILS)
    script.write_text(
        f"import subprocess, sys\nsys.exit(subprocess.call([sys.executable, {str(worker)!r}]))\n"
    )
    run = python(*RUNNER, script)
    assert run.status == 1
    assert SIGN in answer_after(python(script), run)


def test_another_sitecustomize_is_still_imported(script: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import sys\n"
        "def hook(kind, value, trace): print('site hook', kind.__name__, file=sys.stderr)\n"
        "sys.excepthook = hook\n"
    )
    script.write_text("import sitecustomize\nprint(sitecustomize.__file__)\n" + FAILS)
    path = os.pathsep.join([environment()["PYTHONPATH"], str(folder)])
    plain = python(script, PYTHONPATH=path)
    assert plain.err == "site hook RuntimeError\n"
    assert SIGN in answer_after(plain, python(*RUNNER, script, PYTHONPATH=path))


def test_a_sitecustomize_that_fails_is_reported_as_before(script: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("import no_such_module_at_all\n")
    script.write_text("print('runs')\n")
    path = os.pathsep.join([environment()["PYTHONPATH"], str(folder)])
    plain = python(script, PYTHONPATH=path)
    run = python(*RUNNER, script, PYTHONPATH=path)
    assert "sitecustomize" in plain.err
    assert (run.status, run.out) == (plain.status, plain.out)
    assert "Error in sitecustomize" in run.err


def test_a_python_without_diagnose_runs_all_the_same(script: Path, tmp_path: Path) -> None:
    """A job may start another interpreter: the startup module is found, the package is not."""
    startup = SOURCE / "diagnose" / "hooks" / "startup"
    (tmp_path / "diagnose.py").write_text("raise ImportError('not here')\n")
    script.write_text("import sys\nprint(sys.excepthook is sys.__excepthook__)\n" + FAILS)
    path = os.pathsep.join([str(startup), str(tmp_path)])
    plain, run = python(script), python(script, PYTHONPATH=path)
    assert plain.out == "True\n"
    assert answer_after(plain, run) == ""


def test_the_language(script: Path) -> None:
    script.write_text(FAILS)
    run = python(*RUNNER, "--lang", "zh", script, PYTHONIOENCODING="utf-8")
    assert any("一" <= c <= "鿿" for c in run.err)


def test_usage_without_a_script() -> None:
    run = python(*RUNNER)
    assert run.status == 2
    assert "SCRIPT" in run.err


def test_it_is_a_command_of_diagnose(script: Path) -> None:
    script.write_text(FAILS)
    run = python("-m", "diagnose.cli", "run", script)
    assert SIGN in answer_after(python(script), run)
