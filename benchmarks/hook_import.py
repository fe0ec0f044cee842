"""What the hook adds to the start of a program, beside bare Python and ``import sqlalchemy``.

    python benchmarks/hook_import.py [--rounds 21]

The commands run in turns, as those of `cold_start`. Wanted: less than 10 ms more than bare Python.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from cold_start import medians, show

PROGRAMS = {
    "python -c pass": "pass",
    "python -c 'import sqlalchemy'": "import sqlalchemy",
    "... 'import threading'": "import threading",
    "... 'import diagnose'": "import diagnose",
    "... and diagnose.install()": "import diagnose; diagnose.install()",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=21)
    rounds = parser.parse_args().rounds
    # Packages are installed with their bytecode: without it the time is that of compiling.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    nothing = Path(os.devnull)
    table = {name: ([sys.executable, "-c", text], nothing) for name, text in PROGRAMS.items()}
    found = medians(table, rounds)
    show(found, rounds)
    more = found["... and diagnose.install()"] - found["python -c pass"]
    print(f"the hook: {more * 1000:.1f} ms more than bare Python")


if __name__ == "__main__":
    main()
