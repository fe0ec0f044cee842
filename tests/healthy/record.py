"""Runs the programs of tests/healthy and keeps what the tools print: ``record.py [NAME...]``.

Wants the packages of requirements.txt and no network. Each run starts in an empty folder; what tells of
the machine (paths, host name, dates) is replaced by neutral text, and long outputs lose their middle.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
FOLDERS = {"healthy": HERE / "logs", "failure": HERE / "failures"}
LONGEST = 11_000
TIMEOUT = 240

SITE = "/opt/conda/envs/train/lib/python3.11/site-packages"
STDLIB = "/opt/conda/envs/train/lib/python3.11"
PREFIX = "/opt/conda/envs/train"
HOST = "node01"

NEUTRAL = [
    (re.compile(r"\b20\d\d-\d\d-\d\d([T _])\d\d:\d\d:\d\d"), r"2025-03-04\g<1>12:00:00"),
    (re.compile(r"\b20\d\d([/-])\d\d\1\d\d\b"), r"2025\g<1>03\g<1>04"),
    (re.compile(r"\b\d\d/\d\d/\d\d \d\d:\d\d:\d\d"), "03/04/25 12:00:00"),
    (re.compile(r"[\w./]*healthy-\w+/(?=project/)"), "/home/user/"),  # a path that its tool has cut
    (re.compile(r"\b20\d{6}([_-])\d{6}\b"), r"20250304\g<1>120000"),
    (re.compile(r"\b\d\d:\d\d:\d\d([.,]\d+)?(?= [\[A-Z|])"), r"12:00:00\g<1>"),
    (re.compile(r"(?<=\[[IWEFVC])\d{4} \d\d:\d\d:\d\d"), "0304 12:00:00"),
    (re.compile(r"(?m)^([IWEFVC])\d{4} \d\d:\d\d:\d\d"), r"\g<1>0304 12:00:00"),
    (re.compile(r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? \w+ \d+ \d\d:\d\d:\d\d 20\d\d"), "Tue Mar  4 12:00:00 2025"),
]  # fmt: skip


@dataclass(frozen=True)
class Recording:
    """One log: the command whose output it is."""

    name: str
    kind: str
    command: str
    env: dict[str, str]

    @property
    def path(self) -> Path:
        """Where the log is kept."""
        return FOLDERS[self.kind] / f"{self.name}.txt"


def recordings() -> list[Recording]:
    """All that recordings.toml lists."""
    table: dict[str, Any] = tomllib.loads((HERE / "recordings.toml").read_text("utf-8"))
    return [
        Recording(entry["name"], kind, entry["command"], entry.get("env", {}))
        for kind in FOLDERS
        for entry in table[kind]
    ]


def run(recording: Recording, folder: Path) -> tuple[int, str]:
    """The exit status and the whole output, stderr where it came between stdout's lines."""
    project, home = folder / "project", folder / "home"
    shutil.copytree(HERE / "programs", project, ignore=shutil.ignore_patterns("__pycache__"))
    home.mkdir()
    binaries = Path(sys.executable).parent
    env = {
        "PATH": f"{binaries}:{os.environ['PATH']}",
        "HOME": str(home),
        "TMPDIR": str(folder),
        "LANG": "C.UTF-8",
        "HF_HUB_OFFLINE": "1",
        "WANDB_MODE": "offline",
        "PYTHONUNBUFFERED": "1",
        "CUDA_VISIBLE_DEVICES": "",
        **recording.env,
    }
    done = subprocess.run(
        ["bash", "-c", recording.command],
        cwd=project,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT,
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8", errors="replace")


def neutral(text: str, folder: Path) -> str:
    """The text without what only this machine knows."""
    packages = {path for path in sys.path if path.endswith("site-packages")}
    names = {
        str(folder / "project"): "/home/user/project",
        str(folder / "home"): "/home/user",
        str(folder): "/tmp",
        **dict.fromkeys(packages, SITE),
        sysconfig.get_path("stdlib"): STDLIB,
        sys.prefix: PREFIX,
        sys.base_prefix: PREFIX,
        socket.getfqdn(): HOST,
        socket.gethostname(): HOST,
    }
    for name in sorted(names, key=len, reverse=True):
        if name not in ("/usr", "localhost"):
            text = text.replace(name, names[name])
    for pattern, replacement in NEUTRAL:
        text = pattern.sub(replacement, text)
    return text


def shortened(text: str) -> str:
    """The text; of a long one its beginning and its end."""
    if len(text) <= LONGEST:
        return text
    lines = re.split(r"(?<=[\r\n])(?!\n)", text)
    head, tail, size = [], [], 0
    while size + len(lines[0]) < LONGEST // 2:
        size += len(lines[0])
        head.append(lines.pop(0))
    while lines and size + len(lines[-1]) < LONGEST:
        size += len(lines[-1])
        tail.insert(0, lines.pop())
    return "".join([*head, f"[... {len(lines)} lines ...]\n", *tail])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    wanted = parser.parse_args().names
    failed = []
    for recording in recordings():
        if wanted and recording.name not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="healthy-") as name:
            folder = Path(name).resolve()
            status, text = run(recording, folder)
            text = shortened(neutral(text, folder))
        if (status == 0) != (recording.kind == "healthy"):
            failed.append(recording.name)
            print(f"{recording.name}: exit status {status}\n{text[-900:]}", file=sys.stderr)
            continue
        recording.path.parent.mkdir(exist_ok=True)
        recording.path.write_bytes(text.encode("utf-8"))
        print(f"{recording.name}: {len(text)} characters", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
