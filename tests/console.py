"""Pages whose files are written and whose commands are run: what they show is what is printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Pages of docs/ that the site's build writes.
GENERATED = {"commands", "causes", "rules", "openapi"}
#: The pages that people write.
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.stem not in GENERATED),
]
BLOCK = re.compile(r"^```(\w+)( fails)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLACE = re.compile(r"# (?P<file>[\w./-]+), (?:(?P<how>new|at the end)|below: (?P<line>.+))\n")
COMMAND = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.+)\n(?P<shown>(?:(?!\$ ).*\n)*)", re.MULTILINE)


def commands(folder: Path, *names: str, by: str = sys.executable, **modules: str) -> Path:
    """A folder for PATH in which modules of a Python are commands: those that are called as the command is,
    and those that are named; the Python itself where the name is empty."""
    folder.mkdir()
    for name, module in ({name: name for name in names} | modules).items():
        command = folder / name
        run = f"-m {module}" if module else ""
        command.write_text(f'#!/bin/sh\nexec "{by}" {run} "$@"\n')
        command.chmod(0o755)
    return folder


def environment(bin: Path, source: Path, **more: str) -> dict[str, str]:
    """The variables of a command: those of the tests, but none that steers diagnose or pytest.

    Args:
        bin: what stands first on its PATH.
        source: where it imports diagnose from.
        more: further variables.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DIAGNOSE_", "PYTEST_"))}
    kept.pop("COLUMNS", None)
    return {
        **kept,
        "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(source),
        "DIAGNOSE_STORE": "none",
        **more,
    }


def run(folder: Path, command: str, bin: Path, source: Path, status: int = 0, **more: str) -> str:
    """What a command prints that ends with this status.

    Args:
        folder: where it runs.
        command: a line of a shell.
        bin: what stands first on its PATH.
        source: where it imports diagnose from.
        status: how it should end.
        more: further variables of its environment.
    """
    done = subprocess.run(
        ["sh", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        cwd=folder,
        env=environment(bin, source, **more),
    )
    assert done.returncode == status, f"$ {command}\n{done.stdout}"
    return done.stdout


def write(folder: Path, block: str) -> None:
    """Puts a block where its first line says."""
    place = PLACE.match(block)
    assert place, f"the block names no file:\n{block}"
    path, text = folder / place["file"], block[place.end() :]
    if place["how"] == "new":
        assert not path.exists(), f"{place['file']} is there already"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    stands = path.read_text(encoding="utf-8")
    if place["line"]:
        above = f"\n{place['line']}\n"
        assert stands.count(above) == 1, f"{place['file']} has not one line: {place['line']}"
        path.write_text(stands.replace(above, above + text), encoding="utf-8")
    else:
        path.write_text(stands + text, encoding="utf-8")


def _shown(line: str) -> re.Pattern[str]:
    """A line of the page, with `...` for anything and blanks as they come."""
    parts = (r"\s+".join(map(re.escape, part.split())) for part in line.split("..."))
    return re.compile(r"\s*" + r".*".join(rf"\s*{part}\s*" for part in parts))


def missing(output: str, shown: str) -> Iterator[str]:
    """The lines that a page shows and the output lacks, or has in another order."""
    left = iter(output.splitlines())
    for line in shown.splitlines():
        if not any(_shown(line).fullmatch(printed) for printed in left):
            yield line


def lines_match(output: str, shown: str) -> bool:
    """Whether the output is what a page shows, line by line."""
    printed, lines = output.rstrip().splitlines(), shown.rstrip().splitlines()
    return len(printed) == len(lines) and not list(missing(output, shown))
