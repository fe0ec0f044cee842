"""Uncaught exceptions in real processes: the traceback is untouched and first, then the answer."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hooks.children import FAILS, MESSAGE, PREAMBLE, SIGN, answer_after, both, environment, python


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "train.py"


ANSWERED = {
    "plain": FAILS,
    "in a function": f"def step():\n    x = 1\n    {FAILS}step()\n",
    "from another": f"try:\n    {{}}['a']\nexcept KeyError as e:\n    raise RuntimeError({MESSAGE!r}) from e\n",
    "thread": "import threading\ndef work():\n    " + FAILS + "t = threading.Thread(target=work)\n"
    "t.start(); t.join()\n",
    "while stdout is full of text": "print('epoch 1', end='')\n" + FAILS,
    "quoted": f"import subprocess\nraise RuntimeError('worker died:\\nTraceback (most recent call last):\\n"
    f'  File "w.py", line 3, in work\\n    y = layer(x)\\nRuntimeError: {MESSAGE}\')\n',
}


@pytest.mark.parametrize("program", ANSWERED.values(), ids=ANSWERED.keys())
def test_device_failure_is_answered_after_its_traceback(script: Path, program: str) -> None:
    plain, hooked = both(script, program)
    assert "Traceback (most recent call last)" in plain.err
    answer = answer_after(plain, hooked)
    assert SIGN in answer
    assert "RuntimeError" in answer.splitlines()[1]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups")
def test_a_member_of_a_group_is_answered(script: Path) -> None:
    plain, hooked = both(
        script, f"raise ExceptionGroup('two', [RuntimeError({MESSAGE!r}), ValueError('x')])\n"
    )
    assert SIGN in answer_after(plain, hooked)


SILENT = {
    "another error": "{}['key']\n",
    "another error that names a GPU": "raise RuntimeError('CUDA out of memory. GPU 0 has 1 GiB')\n",
    "interrupt": "raise KeyboardInterrupt\n",
    "interrupt with the words": f"raise KeyboardInterrupt({MESSAGE!r})\n",
    "exit 0": "raise SystemExit\n",
    "exit 7": "raise SystemExit(7)\n",
    "exit with words": f"raise SystemExit({MESSAGE!r})\n",
    "no error": "print('done')\n",
    "handled": "try:\n    " + FAILS + "except RuntimeError:\n    pass\n",
    "exit in a thread": "import threading\nthreading.Thread(target=exit).start()\n",
}


@pytest.mark.parametrize("program", SILENT.values(), ids=SILENT.keys())
def test_all_else_is_left_alone(script: Path, program: str) -> None:
    plain, hooked = both(script, program)
    assert answer_after(plain, hooked) == ""


@pytest.mark.parametrize(
    "error",
    [
        "AssertionError('Torch not compiled with CUDA enabled')",
        "RuntimeError('No CUDA GPUs are available')",
    ],
)
def test_a_program_that_finds_no_gpu_is_told_how_to_go_on_without_one(
    script: Path, error: str
) -> None:
    plain, hooked = both(script, f"raise {error}\n")
    answer = answer_after(plain, hooked)
    assert (
        answer.split()
        == f"diagnose: no GPU here; on simulated ones: diagnose run --simulate {script.name}".split()
    )


BROKEN_HOOKS = {
    "raises": "def hook(t, v, tb):\n    print('mine', t.__name__, file=sys.stderr)\n    1 / 0\n",
    "raises from": "def hook(t, v, tb):\n    try:\n        1 / 0\n    except Exception as e:\n"
    "        raise OSError('hook') from e\n",
    "exits": "def hook(t, v, tb):\n    print('mine', t.__name__, file=sys.stderr)\n    sys.exit(9)\n",
    "prints": "def hook(t, v, tb):\n    print('mine', t.__name__, v, tb.tb_lineno, file=sys.stderr)\n",
}


@pytest.mark.parametrize("previous", BROKEN_HOOKS.values(), ids=BROKEN_HOOKS.keys())
def test_the_hook_that_was_there_runs_first_and_as_before(script: Path, previous: str) -> None:
    place = "import sys\n" + previous + "sys.excepthook = hook\n"
    install = "if os.environ.get('HOOKED'): diagnose.install(seconds=60)\n"
    plain, hooked = both(script, place + install + FAILS)
    assert SIGN in answer_after(plain, hooked)


def test_a_thread_hook_that_raises_is_reported_in_pythons_words(script: Path) -> None:
    plain, hooked = both(
        script,
        "import threading\n"
        "def hook(args):\n    1 / 0\n"
        "threading.excepthook = hook\n"
        "if os.environ.get('HOOKED'): diagnose.install(seconds=60)\n"
        "def work():\n    " + FAILS + "t = threading.Thread(target=work)\nt.start(); t.join()\n",
    )
    assert "Exception in threading.excepthook" in plain.err
    assert SIGN in answer_after(plain, hooked)


BOMBS = ["MemoryError()", "RecursionError()", "SystemExit(5)", "KeyboardInterrupt()", "OSError()"]


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_hook_that_fails_changes_nothing(script: Path, bomb: str) -> None:
    break_it = (
        "if os.environ.get('HOOKED'):\n"
        "    import diagnose.hooks.live as live\n"
        "    def explain(*args, **kwargs): raise " + bomb + "\n"
        "    live.explain = explain\n"
    )
    plain, hooked = both(script, break_it + FAILS)
    assert answer_after(plain, hooked) == (
        "diagnose: no answer for this failure (internal error; DIAGNOSE_DEBUG=1 shows it)\n"
    )


@pytest.mark.parametrize("error", ["ValueError('no such optimizer')", "KeyError('x')", "E()"])
def test_a_hook_that_fails_says_nothing_where_no_device_is_meant(script: Path, error: str) -> None:
    plain, hooked = both(
        script,
        "class E(Exception):\n    def __str__(self): raise MemoryError\n"
        "if os.environ.get('HOOKED'):\n"
        "    import diagnose.hooks.live as live\n"
        "    del live.explain\n"
        f"raise {error}\n",
    )
    assert answer_after(plain, hooked) == ""


def test_a_stage_that_fails_costs_one_line(script: Path) -> None:
    break_it = (
        "if os.environ.get('HOOKED'):\n"
        "    import diagnose.pipeline as pipeline\n"
        "    del pipeline.ranking\n"
    )
    plain, hooked = both(script, break_it + FAILS)
    assert answer_after(plain, hooked).startswith("diagnose: no answer for this failure (internal")
    assert answer_after(plain, hooked).count("\n") == 1


def test_debugging_shows_why_the_hook_failed(script: Path) -> None:
    break_it = "import diagnose.pipeline as pipeline\ndel pipeline.ranking\n"
    script.write_text(PREAMBLE + break_it + FAILS)
    hooked = python(script, HOOKED="1", DIAGNOSE_DEBUG="1")
    assert "ranking failed" in hooked.err
    assert "NameError: name 'ranking' is not defined" in hooked.err


def test_a_missing_case_base_changes_nothing(script: Path, tmp_path: Path) -> None:
    script.write_text(PREAMBLE + FAILS)
    plain = python(script)
    hooked = python(script, HOOKED="1", DIAGNOSE_CASEBASE=str(tmp_path / "none"))
    (line,) = answer_after(plain, hooked).splitlines()
    assert line.startswith(f"diagnose: the case base {tmp_path / 'none'} is missing")


HOSTILE = {
    "exception whose text raises": "class E(Exception):\n    def __str__(self): 1 / 0\nraise E\n",
    "exception whose class lies": "class E(Exception):\n    @property\n"
    f"    def __class__(self): 1 / 0\nraise E({MESSAGE!r})\n",
    "no stderr": f"import sys\nsys.stderr = None\n{FAILS}",
    "deep recursion": "def f(n): return f(n + 1)\nf(0)\n",
}


@pytest.mark.parametrize("program", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_ends_stay_as_they_are(script: Path, program: str) -> None:
    plain, hooked = both(script, program)
    assert (hooked.status, hooked.out) == (plain.status, plain.out)
    assert hooked.err.startswith(plain.err)
    answer = hooked.err[len(plain.err) :]
    assert (SIGN in answer) == (answered := MESSAGE in program and "stderr" not in program)
    assert answered or not answer


def test_a_reader_that_leaves_after_the_traceback_does_not_change_the_status(script: Path) -> None:
    script.write_text(PREAMBLE + FAILS)
    child = subprocess.Popen(
        [sys.executable, script], env=environment(HOOKED="1"), stderr=subprocess.PIPE
    )
    assert child.stderr is not None
    while not child.stderr.readline().startswith(b"RuntimeError"):
        pass
    child.stderr.close()
    assert child.wait(60) == 1


def test_a_pipe_that_nobody_empties_does_not_hold_the_program(script: Path) -> None:
    script.write_text(
        PREAMBLE + "import sys, fcntl\n"
        "fcntl.fcntl(2, 1031, 4096)\n"  # F_SETPIPE_SZ: a pipe of one page
        "sys.excepthook.previous = lambda *a: os.write(2, b'x' * 3500)\n" + FAILS
    )
    child = subprocess.Popen(
        [sys.executable, script], env=environment(HOOKED="1"), stderr=subprocess.PIPE
    )
    assert child.wait(60) == 1


@pytest.mark.parametrize(
    "variable",
    [
        "class Slow:\n    def __repr__(self): import time; time.sleep(300)\nslow = Slow()\n",
        "class Lies:\n    @property\n    def __class__(self): import time; time.sleep(300)\nlies = Lies()\n",
        "big = [list(range(100))] * 10**6\nmany = {i: i for i in range(10**6)}\n",
    ],
    ids=["repr sleeps", "class sleeps", "huge"],
)
def test_variables_are_not_printed_nor_asked(script: Path, variable: str) -> None:
    plain, hooked = both(script, variable + FAILS)
    assert SIGN in answer_after(plain, hooked)


def test_the_answer_has_a_time_limit(script: Path) -> None:
    script.write_text(
        "import sys, time, diagnose, diagnose.hooks.live as live\n"
        "live.explain = lambda *a, **k: time.sleep(300)\n"
        "diagnose.install(seconds=0.2)\n" + FAILS
    )
    end = python(script)
    assert end.status == 1
    assert f"RuntimeError: {MESSAGE}\ndiagnose: no answer within 0.2 s" in end.err


def test_installing_loads_nothing_that_takes_time() -> None:
    needed = "import sys, __future__, importlib, threading, collections.abc"
    shows = "print(*sorted(sys.modules))"
    bare = python("-c", f"{needed}; {shows}")
    hooked = python("-c", f"{needed}, diagnose; diagnose.install(); {shows}")
    assert hooked.err == ""
    more = set(hooked.out.split()) - set(bare.out.split())
    assert {name for name in more if not name.startswith("diagnose")} == set()
    assert "diagnose.hooks.answers" in more
    assert not more & {"diagnose.tracing", "diagnose.simulation", "diagnose.hooks.introspection"}


def test_where_the_time_is_up_one_line_says_so(script: Path) -> None:
    script.write_text(FAILS)
    plain = python(script)
    script.write_text(f"import diagnose; diagnose.install(seconds=1e-6)\n{FAILS}")
    hooked = python(script)

    assert hooked.status == plain.status
    assert hooked.err.endswith(
        "diagnose: no answer within 1e-06 s of processor time; save the traceback to a file and run: diagnose FILE\n"
    )


def test_a_script_with_a_relative_name_is_answered(script: Path) -> None:
    script.write_text(f"import torch, diagnose; diagnose.install(seconds=60)\n{FAILS}")
    launcher = (
        f"import os, runpy; os.chdir({str(script.parent)!r}); runpy.run_path({script.name!r})"
    )
    assert SIGN in python("-c", launcher).err


def test_the_switch_keeps_the_hook_out(script: Path) -> None:
    script.write_text(PREAMBLE + FAILS)
    assert answer_after(python(script), python(script, HOOKED="1", DIAGNOSE_HOOK="0")) == ""


def test_the_language_of_the_answer(script: Path) -> None:
    script.write_text("import diagnose\ndiagnose.install(lang='zh', seconds=60)\n" + FAILS)
    assert any("一" <= c <= "鿿" for c in python(script, PYTHONIOENCODING="utf-8").err)


def test_an_ascii_stderr_gets_an_answer_in_any_language(script: Path) -> None:
    script.write_text("import diagnose\ndiagnose.install(lang='zh', seconds=60)\n" + FAILS)
    end = python(script, PYTHONIOENCODING="ascii")
    assert "\\u" in end.err.partition(MESSAGE)[2]


#: Prints whenever anything of it is asked.
LOUD = (
    "import sys, types\n"
    "def told(*names): print(*names, file=sys.__stdout__)\n"
    "class Loud:\n"
    "    def __getattr__(self, name): told('asked', name); raise AttributeError(name)\n"
    "    closed = property(lambda self: told('closed'))\n"
    "    def isatty(self): told('isatty')\n"
    "    def fileno(self): told('fileno'); return 2\n"
    "    def flush(self): told('flush'); sys.__stderr__.flush()\n"
    "    def write(self, text): told('write', text); return sys.__stderr__.write(text)\n"
)
AGAIN = "if os.environ.get('HOOKED'): diagnose.install(seconds=60)\n"
OWN = {
    "stream": "sys.stderr = Loud()\n",
    "what a stream writes to": "import io\nclass Raw(io.FileIO):\n"
    "    def write(self, data): told('write'); return super().write(data)\n"
    "    def fileno(self): told('fileno'); return 2\n"
    "    def isatty(self): told('isatty')\n"
    "sys.stderr = io.TextIOWrapper(Raw(2, 'w', closefd=False), line_buffering=True)\n",
    "object for a module": "for name in ('torch', 'IPython', 'exceptiongroup'):\n"
    f"    sys.modules[name] = Loud()\n{AGAIN}",
    "module that answers itself": "for name in ('torch', 'IPython', 'exceptiongroup'):\n"
    "    sys.modules[name] = types.ModuleType(name)\n"
    f"    sys.modules[name].__getattr__ = Loud().__getattr__\n{AGAIN}",
    "profiler of threads": "import threading\nthreading.setprofile(lambda *a: told(a[1]))\n",
    "tracer of threads": "import threading\nthreading.settrace(lambda *a: told(a[1]))\n",
}


@pytest.mark.parametrize("own", OWN.values(), ids=OWN.keys())
def test_what_is_the_programs_own_is_not_called(script: Path, own: str) -> None:
    plain, hooked = both(script, LOUD + own + FAILS)
    assert SIGN in answer_after(plain, hooked)


@pytest.mark.parametrize("kind", ["profile", "trace"])
def test_a_profiler_or_tracer_sees_of_the_hook_that_it_is_called(script: Path, kind: str) -> None:
    watch = f"import threading\ndef watch(frame, *rest): told(frame.f_code.co_name)\nsys.set{kind}(watch)\n"
    plain, hooked = both(script, LOUD + watch + FAILS)
    assert SIGN in hooked.err
    seen = Counter(hooked.out.split()) - Counter(plain.out.split())
    assert set(seen) <= {"__call__", "exception", "then", "answer"}


def test_a_stream_of_a_package_gets_the_answer(script: Path) -> None:
    package = script.parent / "site-packages" / "capturing.py"
    package.parent.mkdir()
    package.write_text(
        "import io\nclass Captured(io.StringIO):\n"
        "    def flush(self): print(self.getvalue(), end=''); self.seek(0); self.truncate()\n"
    )
    script.write_text(
        f"{PREAMBLE}import sys; sys.path.append({str(package.parent)!r})\n"
        f"import capturing\nsys.stderr = capturing.Captured()\n{FAILS}"
    )
    assert SIGN in python(script, HOOKED="1").out


ENDED = {
    "closed": "sys.stderr.close()\n",
    "deleted": "del sys.stderr\n",
    "detached": "kept = sys.stderr.detach()\n",
    "given a method": "sys.stderr.isatty = Loud().isatty\n",
}


@pytest.mark.parametrize("end", ENDED.values(), ids=ENDED.keys())
def test_a_stream_that_nothing_can_stand_in_for_gets_no_answer(script: Path, end: str) -> None:
    plain, hooked = both(script, LOUD + end + FAILS)
    assert (hooked.status, hooked.out) == (plain.status, plain.out)
    # Python dumps the exception there; addresses differ from run to run, and the hook holds it, too.
    varying = ("object address", "object refcount", "object type  ")
    lines = [[t for t in e.err.splitlines() if not t.startswith(varying)] for e in (plain, hooked)]
    assert lines[0] == lines[1]


def test_a_stream_that_raises_is_asked_no_more_than_by_python(script: Path) -> None:
    raises = (
        "class Raises(Loud):\n    def write(self, text): told('raises'); raise OSError\n"
        "sys.stderr = Raises()\n"
    )
    plain, hooked = both(script, LOUD + raises + FAILS)
    assert (hooked.status, hooked.out) == (plain.status, plain.out)
    assert SIGN in hooked.err
