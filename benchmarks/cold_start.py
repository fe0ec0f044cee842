"""Wall time of ``diagnose < trace`` beside bare Python and ``import sqlalchemy``, as ratios.

    python benchmarks/cold_start.py [--rounds 21]

The commands run in turns, so that whatever else the machine does falls on all of them alike; the
medians and their ratios are printed. Run it in the environment that diagnose is installed in.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

TRACES = Path(__file__).parents[1] / "tests" / "traces"
TRACE = TRACES / "easyedit-memit-delta.txt"
#: A failure whose program is at hand, and a folder of a hundred files in which that is looked for.
PROGRAM = TRACES / "causes" / "crowd-unet-decoder.txt"
PROGRAMS = TRACES / "programs"


def commands() -> dict[str, tuple[list[str], Path]]:
    """What is run, and what it reads from standard input."""
    diagnose = shutil.which("diagnose", path=str(Path(sys.executable).parent)) or "diagnose"
    return {
        "python -c pass": ([sys.executable, "-c", "pass"], TRACE),
        "python -c 'import sqlalchemy'": ([sys.executable, "-c", "import sqlalchemy"], TRACE),
        "diagnose < trace": ([diagnose], TRACE),
        "diagnose --format json < trace": ([diagnose, "--format", "json"], TRACE),
        "diagnose < program": ([diagnose], PROGRAM),
        "diagnose --source DIR < program": ([diagnose, "--source", str(PROGRAMS)], PROGRAM),
    }


def medians(table: Mapping[str, tuple[Sequence[str], Path]], rounds: int) -> dict[str, float]:
    """Seconds of each command, run in turns; the first round only fills the caches."""
    times: dict[str, list[float]] = {name: [] for name in table}
    for turn in range(rounds + 1):
        for name, (command, trace) in table.items():
            taken = seconds(command, trace.read_bytes())
            if turn:
                times[name].append(taken)
    return {name: statistics.median(taken) for name, taken in times.items()}


def show(found: Mapping[str, float], rounds: int) -> None:
    """A line each: milliseconds, and the ratios to `import sqlalchemy` and to bare Python."""
    base, bare = found["python -c 'import sqlalchemy'"], found["python -c pass"]
    print(f"median of {rounds} rounds{'':16} {'ms':>8} {'/ sqlalchemy':>13} {'/ pass':>7}")
    for name, median in found.items():
        print(f"{name:34} {median * 1000:8.1f} {median / base:13.2f} {median / bare:7.2f}")


def seconds(command: Sequence[str], data: bytes) -> float:
    start = time.perf_counter()
    subprocess.run(command, input=data, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=21)
    rounds = parser.parse_args().rounds
    show(medians(commands(), rounds), rounds)


if __name__ == "__main__":
    main()
