"""A PostgreSQL server of its own for the tests, in a temporary folder, as an ordinary user."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def programs() -> Path | None:
    """The folder with initdb and postgres, or None where no server is installed."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    for folder in [*debian, *([Path(found).parent] if found else [])]:
        if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
            return folder
    return None


def user() -> str | None:
    """Who runs the server: root may not, and lends it to the account that Debian makes for it.

    None where there is no such account.
    """
    if os.getuid() != 0:
        return pwd.getpwuid(os.getuid()).pw_name
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in names), None)


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Runs a server in ``folder`` that listens on a socket there only; yields its URL."""
    who = user()
    assert who is not None
    if os.getuid() == 0:
        shutil.chown(folder, who)
    _run(folder, "initdb", "-U", "team", "-A", "trust", "-E", "UTF8", "-N")
    _start(folder)
    try:
        yield f"postgresql+psycopg://team@/postgres?host={folder}"
    finally:
        _stop(folder)


@contextmanager
def stopped(folder: Path) -> Iterator[None]:
    """Stops the server that runs in ``folder``, at once as in a crash, and starts it afterwards."""
    _stop(folder)
    try:
        yield
    finally:
        _start(folder)


def _start(folder: Path) -> None:
    settings = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
    _run(folder, "pg_ctl", "-l", str(folder / "log"), "-o", settings, "-w", "start")


def _stop(folder: Path) -> None:
    _run(folder, "pg_ctl", "-m", "immediate", "-w", "stop")


def _run(folder: Path, program: str, *options: str) -> None:
    where, other = programs(), user() if os.getuid() == 0 else None
    assert where is not None
    command = [str(where / program), "-D", str(folder / "data"), *options]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, check=False, user=other
    )
    assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"
