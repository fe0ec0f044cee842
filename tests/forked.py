"""What tests run in forks of a process that has imported torch already: server.py's works."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import client

_started: list[subprocess.Popen[bytes]] = []


@cache
def _address() -> str:
    """Where a server listens that ends with this process; xdist's workers have one, which ends with theirs."""
    beside = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    owner = os.getppid() if beside else os.getpid()
    shared = Path(tempfile.gettempdir(), f"forks-{beside}")
    folder = shared if beside else Path(tempfile.mkdtemp(prefix="forks-"))
    folder.mkdir(mode=0o700, exist_ok=True)
    address = folder / "server"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not address.exists():
            python, asking = folder / "python", Path(__file__).with_name("client.py")
            python.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {asking} {address} "$@"\n')
            python.chmod(0o755)
            made = subprocess.Popen(
                [sys.executable, Path(__file__).with_name("server.py"), address, str(owner)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
            )
            assert made.stdout is not None and made.stdout.readline()
            _started.append(made)
    return str(address)


@cache
def python() -> str:
    """The path of a Python whose programs begin with torch and diagnose imported.

    A test that asserts how a fresh Python starts takes sys.executable instead.
    """
    return str(Path(_address()).with_name("python"))


def ended(
    folder: Path, work: str, variables: Mapping[str, str] | None = None, **given: Any
) -> subprocess.CompletedProcess[str]:
    """A work of server.py, done in a folder with more variables of the environment."""
    environment = {**os.environ, **(variables or {})}
    with (
        Path(os.devnull).open() as nothing,
        tempfile.TemporaryFile("w+") as output,
        tempfile.TemporaryFile("w+") as errors,
    ):
        streams = [nothing.fileno(), output.fileno(), errors.fileno()]
        status = client.status(
            _address(), streams, work=work, given=given, folder=str(folder), environment=environment
        )
        printed = []
        for stream in (output, errors):
            stream.seek(0)
            printed.append(stream.read())
    return subprocess.CompletedProcess(work, status, *printed)


def printed(folder: Path, work: str, **given: Any) -> str:
    """What a work prints that ends well."""
    done = ended(folder, work, **given)
    assert done.returncode == 0, done.stderr
    return done.stdout


def command(folder: Path, *words: str, **given: Any) -> subprocess.CompletedProcess[str]:
    """A command of diagnose's."""
    return ended(folder, "command", words=words, **given)


def simulation(folder: Path, *words: str, **given: Any) -> subprocess.CompletedProcess[str]:
    """What `python -m diagnose.simulation` does."""
    return ended(folder, "simulation", words=words, **given)
