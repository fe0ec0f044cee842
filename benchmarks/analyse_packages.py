"""Analyses the Python files of folders: no crash, time per 1,000 lines, the slowest file, memory.

    python benchmarks/analyse_packages.py FOLDER... [--files 10000] [--jobs 2] [--limit 5] [--findings FILE]

Each file is analysed as `diagnose check` does, imports followed, nothing run. Files are drawn at random
(seeded) where there are more. Exit status 1 where one crashed or took longer than the limit. ``--findings``
writes what was found as JSON lines, to be read by people.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import signal
import statistics
import sys
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from diagnose.casebase.store import load
from diagnose.checking.analysis import checked
from diagnose.checking.reading import UnreadableError, read

#: A file that takes so many times the limit is given up.
PATIENCE = 6
#: Bytes that a process may take.
MEMORY = 2 << 30


class Analysed(NamedTuple):
    """One file: seconds of a processor, lines, findings, judged and unknown operations, what went wrong."""

    path: str
    lines: int = 0
    parsing: float = 0.0
    seconds: float = 0.0
    judged: int = 0
    unknown: int = 0
    findings: Sequence[dict[str, object]] = ()
    unreadable: str | None = None
    crash: str | None = None
    memory: int = 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=5.0, help="seconds that a file may take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--findings", type=Path)
    args = parser.parse_args()
    paths = files(args.folders, args.files, args.seed)
    work = [(path, args.limit) for path in paths]
    with multiprocessing.get_context("spawn").Pool(args.jobs, _bounded) as pool:
        every = list(pool.imap_unordered(_analysed, work, chunksize=8))
    if args.findings:
        found = [json.dumps(one) for file in sorted(every) for one in file.findings]
        args.findings.write_text("".join(f"{line}\n" for line in found), encoding="utf-8")
    return report(every, args.limit)


def files(folders: Sequence[Path], count: int, seed: int) -> list[str]:
    """The files to analyse, in a random order."""
    every = sorted(
        {
            str(path)
            for folder in folders
            for path in ([folder] if folder.is_file() else folder.rglob("*.py"))
            if path.is_file()
        }
    )
    random.Random(seed).shuffle(every)
    return every[:count]


def report(every: Sequence[Analysed], limit: float) -> int:
    """Prints what was measured; the exit status."""
    crashed = [file for file in every if file.crash]
    slow = [file for file in every if file.seconds > limit]
    done = [file for file in every if not file.crash and not file.unreadable]
    lines = sum(file.lines for file in done)
    seconds = sum(file.seconds for file in done)
    print(f"{len(every)} files, {len(done)} analysed, {lines:,} lines")
    print(f"{len(every) - len(done) - len(crashed)} unreadable:")
    for why, count in Counter((file.unreadable or "")[:60] for file in every).most_common(6):
        if why:
            print(f"  {count} {why}")
    print(f"crashes: {len(crashed)}, longer than {limit:g} s: {len(slow)}")
    for file in crashed:
        print(f"  {file.path}\n{file.crash}")
    print(f"analysis: {1000 * seconds / max(1, lines / 1000):.1f} ms per 1,000 lines", end="; ")
    print(f"parsing {1e6 * sum(file.parsing for file in done) / max(1, lines):.1f} ms")
    times = sorted(1000 * file.seconds for file in done)
    if len(times) > 1:
        middle, high = statistics.median(times), times[int(0.99 * len(times))]
        print(
            f"a file: median {middle:.1f} ms, 99th percentile {high:.0f} ms, at most {times[-1]:.0f} ms"
        )
    for file in sorted(every, key=lambda one: -one.seconds)[:8]:
        print(f"  {file.seconds:.2f} s {file.lines} lines {file.path}")
    print(f"peak memory of a process: {max(file.memory for file in every) // 1024} MiB")
    known, unknown = sum(one.judged for one in done), sum(one.unknown for one in done)
    print(f"operations judged {known}, not judged {unknown}")
    found = Counter(
        (str(one["cause"]), bool(one["sure"])) for file in done for one in file.findings
    )
    total = sum(count for (_, sure), count in found.items() if sure)
    with_some = sum(any(one["sure"] for one in file.findings) for file in done)
    print(
        f"sure findings: {total} in {with_some} files, {100 * total / max(1, len(done)):.2f} in 100"
    )
    for (cause, sure), count in sorted(found.items()):
        print(f"  {cause}{'' if sure else ' (likely)'}: {count}")
    return int(bool(crashed or slow))


def _bounded() -> None:
    """What takes more memory than this fails, and is told as a crash, before the machine suffers."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _analysed(work: tuple[str, float]) -> Analysed:
    path, limit = work
    try:
        started = time.process_time()
        try:
            source = read(path).source
        except UnreadableError as error:
            return Analysed(path, unreadable=str(error).partition(path)[2] or str(error))
        parsed = time.process_time()
        signal.signal(signal.SIGALRM, _over)
        signal.alarm(int(PATIENCE * limit))
        said = checked(source, load().knowledge.torch, {})
        signal.alarm(0)
        ended = time.process_time()
    except Exception:
        return Analysed(path, crash=traceback.format_exc(limit=-6), memory=_memory())
    finally:
        signal.alarm(0)
    findings = [
        {
            "cause": one.cause,
            "sure": one.sure,
            "file": one.spot.file,
            "line": one.spot.line,
            "name": one.name,
            "device": str(one.device),
            "wanted": str(one.wanted),
            "meets": one.meets and [one.meets.file, one.meets.line],
            "steps": [[step.what.value, step.spot.file, step.spot.line] for step in one.steps],
        }
        for one in said.suspects
    ]
    return Analysed(
        path,
        len(source.lines),
        parsed - started,
        ended - parsed,
        said.judged,
        said.unknown,
        findings,
        memory=_memory(),
    )


def _over(*_: object) -> None:
    raise TimeoutError


def _memory() -> int:
    """The peak of this process, in KiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


if __name__ == "__main__":
    sys.exit(main())
