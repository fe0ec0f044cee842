"""Records the traces of recordings.toml: ``python tests/traces/record_causes.py [NAME...]``.

Runs each command in a fresh copy of its program and keeps what it prints, with the paths of nobody's
machine and the dates of no day.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

from diagnose._toml import loads
from diagnose.authoring.proof import replaced

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "src"
TIMEOUT = 240

ENVIRONMENT = "/opt/conda/envs/train"
STDLIB = f"{ENVIRONMENT}/lib/python3.11"
DATE = re.compile(r"\b20\d\d-\d\d-\d\d([T ])\d\d:\d\d:\d\d([.,]\d+)?")
SECONDS = re.compile(r"\bin \d+\.\d\ds\b")


@dataclass(frozen=True)
class Recording:
    """One entry of recordings.toml."""

    name: str
    cause: str
    neighbour: str
    program: str
    command: str
    root: str
    site: str = f"{STDLIB}/site-packages"
    needs: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Where the trace is kept."""
        return HERE / "causes" / f"{self.name}.txt"


def recordings() -> list[Recording]:
    """All entries, in their order."""
    table = loads((HERE / "recordings.toml").read_text(encoding="utf-8"))
    return [Recording(**entry) for entry in table["trace"]]


def run(recording: Recording, folder: Path) -> tuple[int, str]:
    """Exit status and output of the command in a copy of its program; stderr goes where stdout goes."""
    project = folder / recording.program
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(HERE / "programs" / recording.program, project, ignore=ignored)
    binaries = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-c", recording.command],
        cwd=project,
        env={
            **os.environ,
            "PATH": f"{binaries}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(
                filter(None, [str(SOURCE), str(HERE), os.environ.get("PYTHONPATH")])
            ),
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "HF_HUB_OFFLINE": "1",
            "COLUMNS": "100",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )
    return done.returncode, done.stdout


def neutral(text: str, recording: Recording, folder: Path) -> str:
    """The text with this machine's paths, dates and times replaced."""
    packages = {path for path in sys.path if any(Path(path).glob("*.dist-info"))}
    replacements = {
        str(folder / recording.program): recording.root,
        **dict.fromkeys(packages, recording.site),
        sysconfig.get_path("stdlib"): STDLIB,
        sys.prefix: ENVIRONMENT,
    }
    text = replaced(text, replacements)
    return SECONDS.sub("in 3.14s", DATE.sub(r"2025-03-04\g<1>12:00:00\g<2>", text))


def record(recording: Recording) -> str:
    """The trace, recorded now.

    Raises:
        SystemExit: the command did not end with status 1.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        status, text = run(recording, folder)
        if status != 1:
            raise SystemExit(f"{recording.name}: status {status}, expected 1\n{text}")
        return neutral(text, recording, folder)


def main(wanted: list[str]) -> None:
    for recording in recordings():
        if not wanted or recording.name in wanted:
            text = record(recording)
            recording.path.write_text(text, encoding="utf-8")
            print(f"{recording.name}: {text.strip().splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
