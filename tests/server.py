"""python server.py ADDRESS OWNER: runs what tests ask for at a socket, each in a fork of this process.

It has imported once what each of them would import, and has run no program; pytest's has. Who asks sends a JSON
object on a line with its own standard streams, is told the number of the process and then its status, and ends
it by going away.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import socketserver
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

from diagnose.casebase.store import load
from diagnose.cli import main as diagnose
from diagnose.commands import verification
from diagnose.preload import warm
from diagnose.processes import import_all
from diagnose.repair.model import Candidate, Limits, Program, Terms
from diagnose.repair.runs.runner import Runner
from diagnose.repair.search import Search
from diagnose.repair.verification.proof import Reference
from diagnose.repair.workspace import Workspace
from diagnose.simulation.__main__ import main as simulate

#: Where this Python finds modules, but for what a program brings.
INSTALLED = sys.path[1:]


def command(words: Sequence[str], fails: str = "") -> None:
    """A command of diagnose's, in which a function of `diagnose.repair` fails. The Python that `run --verify`
    starts is forked, too."""
    verification.subprocess = SimpleNamespace(Popen=Forked)  # type: ignore[attr-defined]
    if fails:

        def broken(*_: object) -> None:
            raise IndexError("a secret")

        module, _, name = fails.rpartition(".")
        setattr(importlib.import_module(f"diagnose.repair.{module}"), name, broken)
    diagnose(list(words))


class Forked:
    """A Python that a command starts, by its command line; it has all that this process has imported."""

    def __init__(self, command: Sequence[str]) -> None:
        self._number = os.fork()
        if not self._number:
            _do("python", {"words": command[1:]})

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self._number, 0)[1])


def python(words: Sequence[str]) -> None:
    """What Python does with a command line: of a script, a module (``-m``) or a program (``-c``)."""
    main = sys.modules["__main__"] = ModuleType("__main__")
    sys.executable = str(
        Path(sys.argv[1]).with_name("python")
    )  # what a program starts is forked, too
    sys.orig_argv = [sys.executable, *words]
    if words[0] == "-u":
        sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr]
        words = words[1:]
    first, *rest = words
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path = [*paths, *(path for path in INSTALLED if path not in paths)]
    with contextlib.suppress(ImportError):
        import sitecustomize  # noqa: F401
    start = {"-m": str(Path.cwd()), "-c": ""}.get(first, str(Path(first).resolve().parent))
    sys.path.insert(0, start)
    if first == "-m":
        sys.argv = ["-m", *rest[1:]]
        runpy._run_module_as_main(rest[0])  # type: ignore[attr-defined]
    elif first == "-c":
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), vars(main))
    else:
        sys.argv = list(words)
        main.__file__ = first
        exec(compile(Path(first).read_bytes(), first, "exec"), vars(main))


def simulation(words: Sequence[str]) -> None:
    """What `python -m diagnose.simulation` does."""
    sys.exit(simulate(words))


def proof(edited: str, line: int, kind: str, cause: str, stopgap: bool) -> None:
    """What is known of train.py with another text: ``level`` and ``guards``."""
    texts, edit = (
        {"train.py": edited},
        Candidate(cause, "", kind, "", "train.py", line, "", stopgap),
    )
    with tempfile.TemporaryDirectory() as home:
        runner = _runner(home)
        ran = runner.run(texts, Terms(2))
        assert ran.passed, ran.errors
        found = Reference(runner, 2).prove(texts, ran, [edit])
    guards = {guard.id: guard.holds for guard in found.guards}
    print(json.dumps({"level": found.level, "guards": guards}))


def search(patch: str, line: int) -> None:
    """The diff of a repair of train.py that tries a patch first."""
    first = Candidate(
        "created-without-device", "", "move-tensor-at-line", "", "train.py", line, patch
    )
    with tempfile.TemporaryDirectory() as home:
        print(Search(_runner(home), 2, Limits(), alternatives=True).repair([first]).diff)


#: Fails of a placement, and is repaired.
FAILS = "import torch\nx = torch.ones(2)\nprint((torch.ones(2, device='cuda') + x).sum())\n"


def imported() -> None:
    """What a repair imports of torch and of diagnose, to a file of this name."""
    Path("train.py").write_text(FAILS)
    with contextlib.suppress(SystemExit):
        diagnose(["fix", "train.py"])
    names = [name for name in sys.modules if name.startswith(("torch.", "diagnose."))]
    Path("imported").write_text("\n".join(names))


def _runner(home: str) -> Runner:
    folder = Path.cwd()
    warm(folder / "train.py")
    return Runner(Program(folder, folder, "train.py"), Workspace(folder, Path(home)), 60)


WORKS = {work.__name__: work for work in (command, python, simulation, proof, search, imported)}


class Asked(socketserver.BaseRequestHandler):
    """A work that somebody asks for, in a process that waits for it."""

    request: socket.socket

    def handle(self) -> None:
        _, streams, *_ = socket.recv_fds(self.request, 1, 3)
        with self.request.makefile("rw") as talk:
            asked = json.loads(talk.readline())
            child = os.fork()
            if not child:
                for number, stream in enumerate(streams):
                    os.dup2(stream, number)
                self._close(*streams, self.request.fileno(), self.server.fileno())
                _do(**asked)
            self._close(*streams)
            print(child, file=talk, flush=True)
            ended = os.pidfd_open(child)
            if ended not in select.select([ended, self.request], [], [])[0]:
                os.kill(child, signal.SIGKILL)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=talk, flush=True)

    def _close(self, *numbers: int) -> None:
        for number in numbers:
            os.close(number)


class Server(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    """Ends with the process of this number."""

    owner: int

    def service_actions(self) -> None:
        super().service_actions()
        try:
            os.kill(self.owner, 0)
        except ProcessLookupError:
            sys.exit()


def _do(
    work: str,
    given: Mapping[str, Any],
    folder: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> NoReturn:
    """Ends this process as Python does, after a work in a folder with these variables of the environment."""
    if folder is not None and environment is not None:
        os.chdir(folder)
        if os.environ.get("DIAGNOSE_CASEBASE") != environment.get("DIAGNOSE_CASEBASE"):
            load.cache_clear()
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None  # is asked for anew
    signal.signal(signal.SIGINT, signal.default_int_handler)
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(encoding=encoding or None, errors=errors or None)  # type: ignore[union-attr]
    sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]
    status = _status(work, given)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # it is None or closed
            stream.flush()
    if status == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(status)


def _status(work: str, given: Mapping[str, Any]) -> int:
    """The exit status of a work in this process; what it raises is told as Python does."""
    try:
        WORKS[work](**given)
        return 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:
        raised = error
    trace = raised.__traceback__
    while trace and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    sys.excepthook(type(raised), raised.with_traceback(trace), trace)
    return -signal.SIGINT if isinstance(raised, KeyboardInterrupt) else 1


def main(address: str, owner: str) -> None:
    sys.path[0] = ""  # as for `python -m`
    warm(Path(__file__))
    import_all(["torch._dynamo"])  # as a program's optimizer would, in each run
    folder = tempfile.mkdtemp()
    child = os.fork()
    if not child:
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        _do("imported", {}, folder, os.environ.copy())
    os.waitpid(child, 0)
    import_all(Path(folder, "imported").read_text().split())
    shutil.rmtree(folder)
    gc.freeze()  # what was imported is nobody's garbage
    try:
        with Server(address, Asked) as server:
            server.owner = int(owner)
            print(flush=True)  # it listens
            server.serve_forever()
    finally:
        shutil.rmtree(Path(address).parent)


if __name__ == "__main__":
    main(*sys.argv[1:])
