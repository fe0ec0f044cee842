"""Fetches the source of the packages that training/packages.txt names, a folder each; nothing is installed
or run.

    python training/fetch_packages.py packages/

Wheels only: a source distribution would run its own code to tell its name. A package that has no wheel,
or is larger than `LARGEST`, is left out and said so.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

LIST = Path(__file__).with_name("packages.txt")
#: Of a wheel, in bytes.
LARGEST = 80_000_000
SECONDS = 120


def main() -> None:
    """Fetches what is not there yet, and prints what could not be had."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    options = parser.parse_args()
    for name in LIST.read_text(encoding="utf-8").split():
        folder = options.folder / name
        if not folder.is_dir() and (fault := fetched(name, folder)):
            print(f"{name}: {fault}", file=sys.stderr)


def fetched(name: str, folder: Path) -> str | None:
    """Puts a package's source into a folder; says why not where that fails."""
    with tempfile.TemporaryDirectory() as there:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", there]
        try:
            subprocess.run(
                [*command, "--only-binary=:all:", name],
                check=True,
                capture_output=True,
                timeout=SECONDS,
            )
        except subprocess.CalledProcessError:
            return "no wheel"
        except subprocess.TimeoutExpired:
            return f"took more than {SECONDS} s"
        [wheel] = Path(there).iterdir()
        if wheel.stat().st_size > LARGEST:
            return "too large"
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if member.endswith(".py"):  # `extract` keeps every member below the folder
                    archive.extract(member, folder)
    folder.mkdir(parents=True, exist_ok=True)
    return None


if __name__ == "__main__":
    main()
