"""Latency of one answer in a process that has already answered: milliseconds of each stage.

    python benchmarks/warm.py [--rounds 5]

Every recorded traceback of the project (tests/traces, kb/cases) is answered in turns; the first round,
in which patterns are compiled, does not count. Ranking is what happens to a parsed report until its
causes are in order: facts, nearest incidents, scores.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from diagnose import facts
from diagnose.casebase.store import load
from diagnose.parsing import parse
from diagnose.pipeline import explain
from diagnose.ranking.causes import rank
from diagnose.ranking.neighbours import nearest
from diagnose.rendering import text
from diagnose.scene import Scene, sourceline

ROOT = Path(__file__).parents[1]
STAGES = ("parse", "facts", "nearest", "rank", "facts + nearest + rank", "explain", "render", "all")
Result = TypeVar("Result")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    casebase = load()
    known = casebase.knowledge
    times: dict[str, list[float]] = {stage: [] for stage in STAGES}

    def timed(stage: str, run: Callable[..., Result], *given: Any, **named: Any) -> Result:
        start = time.perf_counter()
        result = run(*given, **named)
        times[stage].append((time.perf_counter() - start) * 1000)
        return result

    inputs = [*ROOT.glob("tests/traces/**/*.txt"), *ROOT.glob("kb/cases/*/trace.txt")]
    data = [path.read_bytes() for path in sorted(inputs)]
    for turn in range(rounds + 1):
        if turn == 1:
            times = {stage: [] for stage in STAGES}
        for one in data:
            report = timed("parse", parse, one, knowledge=known)
            scene = Scene(report, casebase.knowledge)
            if report.error is None or scene.site is None:
                continue
            sourceline.parse.cache_clear()  # as for a report that was never seen
            found = timed("facts", facts.read, scene)
            matches = timed("nearest", nearest, report, casebase.incidents)
            timed("rank", rank, found, matches, casebase.causes)
            ranked = sum(times[stage][-1] for stage in ("facts", "nearest", "rank"))
            times["facts + nearest + rank"].append(ranked)
            answer = timed("explain", explain, report, casebase=casebase)
            timed("render", text.render, answer)
            times["all"].append(sum(times[stage][-1] for stage in ("parse", "explain", "render")))
    print(f"{len(data)} tracebacks, {len(casebase.incidents)} incidents, {rounds} rounds")
    print(f"{'ms':24}{'median':>8}{'p95':>8}")
    for stage, taken in times.items():
        high = statistics.quantiles(taken, n=20)[-1]
        print(f"{stage:24}{statistics.median(taken):8.2f}{high:8.2f}")


if __name__ == "__main__":
    main()
