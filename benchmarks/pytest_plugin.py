"""What the idle pytest plugin costs: processor time of `pytest --collect-only` with it and without, in turns.

    python benchmarks/pytest_plugin.py [PAIRS]

Prints the medians and the median of the pairs' differences. Other plugins are left out, so that their
own spread hides nothing.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

PYTEST = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
PLUGIN = ["-p", "diagnose.pytest_plugin"]


def spent(folder: Path, *more: str) -> float:
    """Milliseconds of the processor."""
    child = os.fork()
    if not child:
        os.chdir(folder)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.execvpe(
            PYTEST[0], [*PYTEST, *more], {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        )
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit("pytest failed")
    return 1000 * (usage.ru_utime + usage.ru_stime)


def main(pairs: int = 20) -> None:
    # Packages are installed with their bytecode: without it the time is that of compiling.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "test_one.py").write_text("def test_one():\n    pass\n")
        spent(path, *PLUGIN)  # which writes the bytecode
        each = [(spent(path), spent(path, *PLUGIN)) for _ in range(pairs)]
    without, beside = (statistics.median(column) for column in zip(*each, strict=True))
    more = statistics.median(b - a for a, b in each)
    print(f"without {without:.1f} ms, with {beside:.1f} ms, difference {more:.2f} ms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
