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
    where, who = programs(), user()
    assert where is not None
    assert who is not None
    data = folder / "data"

    def run(*command: str) -> None:
        other = who if os.getuid() == 0 else None
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=folder, check=False, user=other
        )
        assert done.returncode == 0, f"{command[0]}: {done.stdout}{done.stderr}"

    if os.getuid() == 0:
        shutil.chown(folder, who)
    run(str(where / "initdb"), "-D", str(data), "-U", "team", "-A", "trust", "-E", "UTF8", "-N")
    settings = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
    log = str(folder / "log")
    run(str(where / "pg_ctl"), "-D", str(data), "-l", log, "-o", settings, "-w", "start")
    try:
        yield f"postgresql+psycopg://team@/postgres?host={folder}"
    finally:
        run(str(where / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")
