"""Forked processes: they begin with what was imported once, what they print is read and bounded, and
nothing of them is left behind."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import pkgutil
import selectors
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

#: The exit status of a run that took too long.
TOO_LONG = 124
#: Bytes that are kept of what a run prints, of the beginning and of the end.
_KEPT = 200_000
_LAST = 20_000
#: Seconds that the other processes of a launch get when one has failed.
_PATIENCE = 10


#: The signals that have asked this process to end.
_ASKED: list[int] = []


def end_by(number: int) -> None:
    """Lets a signal end this process as an error does, with all that is cleaned up then.

    The error is lost where Python calls back (a finalizer, a weak reference's end): it is raised again
    while forked processes are waited for.
    """

    def ended(number: int, _: object) -> None:
        _ASKED.append(number)
        raise SystemExit(128 + number)

    signal.signal(number, ended)


class Ended(NamedTuple):
    """How a process ended: its status as a shell tells it, what it printed, and how many bytes on
    standard output."""

    status: int
    output: str
    errors: str
    printed: int


class _Process:
    """Some work in a forked process, and what arrives from it.

    Between that process and this one stands another, its keeper: what the work leaves behind becomes the
    keeper's, whatever session it has made for itself, and is ended by it.
    """

    def __init__(self, work: Callable[[], int]) -> None:
        pipes = [os.pipe(), os.pipe()]
        # Looking for garbage among what was imported would copy it, page by page, into each process.
        gc.freeze()
        self.number = os.fork()
        if self.number == 0:
            _keep(work, pipes)
        gc.unfreeze()
        for _, write in pipes:
            os.close(write)
        self.streams = [_Stream(read) for read, _ in pipes]
        self.status: int | None = None

    def poll(self) -> bool:
        """Whether it has ended."""
        if self.status is None:
            done, status = os.waitpid(self.number, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
                self.status = code if code >= 0 else 128 - code
                for stream in self.streams:
                    stream.read()
        return self.status is not None

    def end(self) -> Ended:
        """Ends it, and whatever it has started."""
        if self.status is None:
            os.kill(self.number, signal.SIGTERM)
            os.kill(self.number, signal.SIGCONT)  # if the work has stopped its keeper
            os.waitpid(self.number, 0)
            self.status = TOO_LONG
        for stream in self.streams:
            os.close(stream.number)
        out, err = self.streams
        return Ended(self.status, out.text(), err.text(), out.count)


def forked(works: Sequence[Callable[[], int]], seconds: float) -> list[Ended]:
    """Works done in processes of their own, side by side. Where one of several fails, the others, which
    wait for it, get a few seconds."""
    sys.stdout.flush()
    sys.stderr.flush()
    processes: list[_Process] = []
    try:
        for work in works:
            processes.append(_Process(work))
        _watch(processes, time.monotonic() + seconds)
    finally:
        ended = [process.end() for process in processes]
    return ended


def _keep(work: Callable[[], int], pipes: Sequence[tuple[int, int]]) -> NoReturn:
    """Starts the work, and ends as it does once nothing that it has started is left."""
    status = 1
    try:
        # What asks the keeper to end waits until there is something to be ended.
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM,))
        os.setsid()
        _control(_CHILD_SUBREAPER, 1)
        _control(_SIGNAL_OF_PARENT, signal.SIGTERM)
        number = os.fork()
        if number == 0:
            _child(work, pipes)

        def asked(*_: object) -> None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)  # one that leads no group yet
            _end_all(number)
            os._exit(TOO_LONG)

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, asked)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM,))
        ended = 0
        while ended != number:
            ended, waited = os.wait()
        code = os.waitstatus_to_exitcode(waited)
        status = code if code >= 0 else 128 - code
        _end_all(number)
    finally:
        os._exit(status)


def _end_all(leader: int) -> None:
    """Ends the group of a process and, on Linux, each descendant of this one."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    # Whose parent is ended comes to this process, and is found the next time.
    while sum(_killed(number) for number in _children()):
        os.waitpid(-1, 0)


def _children() -> list[int]:
    """The processes that this one has started or inherited; none where the system does not tell them."""
    try:
        told = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
    except OSError:
        return []
    return [int(number) for number in told.split()]


def _killed(number: int) -> bool:
    try:
        os.kill(number, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _child(work: Callable[[], int], pipes: Sequence[tuple[int, int]]) -> NoReturn:
    status = 1
    try:
        os.setsid()
        _control(_SIGNAL_OF_PARENT, signal.SIGKILL)
        _bound_memory()
        for stream, (_, write) in enumerate(pipes, 1):
            os.dup2(write, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.closerange(3, 64)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM,))
        status = work()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(status)


#: What Linux is told of a process: the signal that it gets when its parent ends, and that it takes the
#: place of parents that end before their children.
_SIGNAL_OF_PARENT, _CHILD_SUBREAPER = 1, 36


def _control(option: int, value: int) -> None:
    """Tells Linux something of this process; other systems nothing."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _bound_memory() -> None:
    """On Linux: a process gets what is free now; more is refused to it, before the kernel ends another."""
    with contextlib.suppress(OSError, ImportError, ValueError):
        import resource

        most = _kilobytes("/proc/meminfo", "MemAvailable") + _kilobytes(
            "/proc/self/status", "VmData"
        )
        resource.setrlimit(resource.RLIMIT_DATA, (most * 1024, most * 1024))


def _kilobytes(file: str, name: str) -> int:
    """A number of the kernel's. Raises ValueError where it has none of that name."""
    for line in Path(file).read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise ValueError(f"{file} does not tell {name}")


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


def _watch(processes: Sequence[_Process], end: float) -> None:
    """Reads what processes print until all have ended, or the time is over."""
    with selectors.DefaultSelector() as selector:
        for process in processes:
            for stream in process.streams:
                selector.register(stream.number, selectors.EVENT_READ, stream)
        while time.monotonic() < end:
            if _ASKED:
                raise SystemExit(128 + _ASKED[0])
            for key, _ in selector.select(timeout=0.02):
                if not key.data.read():
                    selector.unregister(key.fd)
            over = [process.poll() for process in processes]
            if all(over):
                return
            if any(process.status for process in processes):
                end = min(end, time.monotonic() + _PATIENCE)
            if not selector.get_map():
                time.sleep(0.01)  # they have closed their streams and go on


def import_all(names: Iterable[str]) -> None:
    """Imports what can be imported, once for all processes that are forked later: modules, and names of
    theirs (``package.module:name``)."""
    for name in names:
        if name not in sys.modules:
            with undisturbed(), contextlib.suppress(Exception), _silenced():
                pkgutil.resolve_name(name if ":" in name else f"{name}:")


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """No signal ends this process meanwhile; one that came does afterwards what it does. Python's errors in
    the midst of an extension module's beginning abort the process, and nothing is cleaned up.

    Signals are noted, not masked: a mask is one thread's, and the kernel hands a process's signal to any
    thread without one, while Python answers it in the first.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # no signal's answer is ever run in this one
        return
    came = list[int]()
    handlers = {sent: signal.getsignal(sent) for sent in (signal.SIGINT, signal.SIGTERM)}
    # None is a handler that Python did not install and cannot give back.
    handlers = {sent: handler for sent, handler in handlers.items() if handler is not None}
    for sent in handlers:
        signal.signal(sent, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for sent, handler in handlers.items():
            signal.signal(sent, handler)
        for number in dict.fromkeys(came):
            signal.raise_signal(number)


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    """What modules say while they are imported is said again in each run, or never."""
    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield
