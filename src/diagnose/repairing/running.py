"""Runs of a program in processes of their own, forked from this one, which has imported torch."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import selectors
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from diagnose.errors import DiagnoseError
from diagnose.repairing.model import Candidate, Failure, Program, Ran, Silent, Terms
from diagnose.repairing.workspace import Workspace

#: The exit status of a run that took too long.
TOO_LONG = 124
#: Bytes that are kept of what a run prints, of the beginning and of the end.
_KEPT = 200_000
_LAST = 20_000
#: What every run needs.
_ALWAYS = (
    "torch",
    "diagnose.hooks.seeing",
    "diagnose.rendering.json",
    "diagnose.repairing.performing",
    "diagnose.simulation.session",
    "diagnose.placement.interpreter",
)


class Runner:
    """Runs a program with edited files; counts the runs."""

    def __init__(
        self, program: Program, workspace: Workspace, seconds: float, writable: Sequence[Path] = ()
    ) -> None:
        self.program = program
        self.workspace = workspace
        self._seconds = seconds
        self._writable = tuple(writable)
        self.count = 0

    def run(self, texts: Mapping[str, str], terms: Terms) -> Ran:
        """What the program gives with these texts of its files.

        Raises:
            DiagnoseError: a file of the user's was altered, or no process can be made.
            OSError: the copies cannot be written.
        """
        self.count += 1
        folder = self.workspace.fresh(texts)
        result = folder.parent / ".result"
        started = time.monotonic()
        status, out, err, printed = _forked(
            lambda: self._perform(folder, result, terms), self._seconds
        )
        told = _told(result) if status != TOO_LONG else {}
        if self.count == 1:  # what one run imports of torch, the next will: optimizers bring dynamo
            _import(told.get("imported", ()))
        ran = _ran(told) if told else Ran(status or 1)
        if altered := self.workspace.altered():
            raise DiagnoseError(f"the program wrote to {altered[0]}, so nothing more is tried")
        ended = status if ran.failure is None else status or 1
        return ran._replace(
            status=ended,
            seconds=time.monotonic() - started,
            output=out,
            printed=printed,
            errors=err,
        )

    def _perform(self, folder: Path, result: Path, terms: Terms) -> int:
        from diagnose.repairing.performing import perform

        return perform(self.program, self.workspace, folder, result, terms, self._writable)


def warm(path: Path) -> None:
    """Imports torch and the installed packages that a script names, once for all its runs.

    Raises:
        TorchMissingError: torch is not installed or too old.
        DiagnoseError: this system cannot fork.
    """
    if not hasattr(os, "fork"):
        raise DiagnoseError("diagnose fix needs a system that can fork: Linux, macOS or WSL")
    from diagnose.simulation import require_torch

    require_torch()
    _import((*_ALWAYS, *_imported(path)))
    from diagnose.casebase.store import load

    load()


def _import(names: Iterable[str]) -> None:
    """Imports what can be imported."""
    for name in names:
        if name not in sys.modules:
            with contextlib.suppress(Exception), _silenced():
                importlib.import_module(name)


def _imported(path: Path) -> Iterator[str]:
    """The installed packages that a file imports by name."""
    import ast

    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return
    for node in ast.walk(tree):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        for name in {name.partition(".")[0] for name in names}:
            with contextlib.suppress(ImportError, ValueError):
                spec = find_spec(name)
                if spec and "site-packages" in str(spec.origin):
                    yield name


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    """What modules say while they are imported is said again in each run, or never."""
    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield


# --- a process and what it prints ---


def _forked(work: Callable[[], int], seconds: float) -> tuple[int, str, str, int]:
    """The status of some work in a process of its own, what it printed on both streams, and how many
    bytes that were on the first."""
    sys.stdout.flush()
    sys.stderr.flush()
    pipes = [os.pipe(), os.pipe()]
    child = os.fork()
    if child == 0:
        _child(work, pipes)
    for _, write in pipes:
        os.close(write)
    streams = [_Stream(read) for read, _ in pipes]
    try:
        status = _watched(child, streams, time.monotonic() + seconds)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)  # and whatever it has started
        for stream in streams:
            os.close(stream.number)
    return status, streams[0].text(), streams[1].text(), streams[0].count


def _child(work: Callable[[], int], pipes: Sequence[tuple[int, int]]) -> NoReturn:
    status = 1
    try:
        os.setsid()
        _die_with_parent()
        for stream, (_, write) in enumerate(pipes, 1):
            os.dup2(write, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.closerange(3, 64)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        status = work()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(status)


def _die_with_parent() -> None:
    """On Linux: nobody is left behind when we are killed."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class _Stream:
    """What arrives in a pipe: the beginning and the end are kept."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.count = 0
        self._head = bytearray()
        self._tail = bytearray()
        os.set_blocking(number, False)

    def read(self) -> bool:
        """Takes what is there; False at the end."""
        while True:
            try:
                data = os.read(self.number, 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.count += len(data)
            room = _KEPT - len(self._head)
            self._head += data[:room]
            self._tail = (self._tail + data[room:])[-_LAST:]

    def text(self) -> str:
        """What was kept."""
        between = b"\n...\n" if self.count > _KEPT + _LAST else b""
        return (self._head + between + self._tail).decode(errors="replace")


def _watched(child: int, streams: Sequence[_Stream], end: float) -> int:
    """Reads until a child ends; its exit status, as a shell tells it."""
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream.number, selectors.EVENT_READ, stream)
        while True:
            for key, _ in selector.select(timeout=0.02):
                if not key.data.read():
                    selector.unregister(key.fd)
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                for stream in streams:
                    stream.read()
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
            if not selector.get_map():
                time.sleep(0.01)  # it has closed its streams and goes on
            if time.monotonic() > end:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return TOO_LONG


def _told(result: Path) -> dict[str, Any]:
    """What a child has told of its run; nothing, where it ended before it could."""
    try:
        told: dict[str, Any] = json.loads(result.read_text())
    except (OSError, ValueError):
        return {}
    return told


def _ran(told: dict[str, Any]) -> Ran:
    told.pop("imported")
    failure = told.pop("failure")
    return Ran(
        failure=Failure(*failure) if failure else None,
        candidates=tuple(Candidate(*one) for one in told.pop("candidates")),
        trained=tuple((one[0], one[1], one[2]) for one in told.pop("trained")),
        silent=tuple(
            Silent(kind, tuple(names), file, line) for kind, names, file, line in told.pop("silent")
        ),
        executed=frozenset(told.pop("executed")),
        **told,
    )
