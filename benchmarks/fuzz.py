"""Mutated recordings of every printed form, through all doors: no crash, none slow, no broken edit.

    python benchmarks/fuzz.py [--count 1000000] [--seed 0] [--seconds 0] [--jobs 1] [--reports DIR]...

Inputs that crash it, or take more than a second of the processor, are written to --keep and told; the
exit status is 1 then. tests/fuzz runs a few of them without a clock.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import fuzz_lines
from judge import Judge

ROOT = Path(__file__).parents[1]
#: Beyond this many seconds by the clock an input counts as one that hangs.
HANGS = 60
TOKENS = (
    b"Traceback (most recent call last):\n", b'  File "/a/b.py", line 3, in f\n', b"RuntimeError: boom",
    b"E   ValueError: x\n", b"> x\n", b"a.py:3: ValueError\n", b"----> 3 x\n", "❱ 3 │ x\n".encode(),
    "╭─ Traceback (most recent call last) ─╮\n".encode(), "│".encode(), b"[rank1]: ", b"[rank1]:", b"\\n",
    b"\\\\n", b'\\"', b'"', b"'", b"{", b"}", b"[", b"]", b"| ",
    b"+-+---------------- 1 ----------------\n",
    b"\x1b[0m", b"\x1b[31m", b"\x1b", b"&lt;", b"<br>", b"&#10;", b"\r", b"\r\n", b"\n", b"\x00", b"\xff",
    b"\t", b"  ", b"cuda:1", b"cpu", b"device(type='cuda', index=0)", b"in ", b"line ", b".py", b":", b"(",
    b")", b"During handling of the above exception, another exception occurred:\n", b"from user code:\n",
    b"Original Traceback (most recent call last):\n", b'"""\n', b"2026-11-21T08:00:00.1Z stderr F ",
    b"2026-11-21T08:00:00.1Z stderr P ", b"Cell In[1], line 2\n", b"99999999999999999999", b"```\n",
    b"> > ", b"Current thread 0x1 (most recent call first):\n", b"Killed\n", b"loss=nan ", b"\xe2\x80\x8b",
    b"Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
)  # fmt: skip
Change = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def _span(chance: random.Random, data: bytes, most: int = 400) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(len(data), start + chance.randrange(most))


def flip(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    out = bytearray(data)
    for _turn in range(chance.randrange(1, 8)):
        if out:
            out[chance.randrange(len(out))] = chance.randrange(256)
    return bytes(out)


def delete(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _span(chance, data)
    return data[:start] + data[end:]


def truncate(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] if chance.random() < 0.5 else data[at:]


def put(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(TOKENS) * chance.choice((1, 1, 2, 9)) + data[at:]


def repeat(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _span(chance, data)
    times = chance.choice((2, 2, 5, 30, 300))
    return data[:start] + data[start:end] * min(times, 1 + 60_000 // (end - start + 1)) + data[end:]


def shuffle(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    for _turn in range(chance.randrange(1, 6)):
        i, k = chance.randrange(len(lines)), chance.randrange(len(lines))
        lines[i], lines[k] = lines[k], lines[i]
    return b"\n".join(lines)


def splice(chance: random.Random, data: bytes, forms: Sequence[bytes]) -> bytes:
    other = chance.choice(forms)
    start, end = _span(chance, other, 4000)
    at = chance.randrange(len(data) + 1)
    return data[:at] + other[start:end] + data[at:]


def prefix(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    mark = chance.choice(TOKENS).strip(b"\n")
    return b"\n".join(mark + line for line in data.split(b"\n"))


def wrap(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    width = chance.choice((20, 40, 79, 80, 120))
    lines = data.split(b"\n")
    return b"\n".join(x[i : i + width] for x in lines for i in range(0, max(1, len(x)), width))


def carry(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    text = data.decode("utf-8", "replace")
    ways: tuple[Callable[[], str], ...] = (
        lambda: json.dumps({"log": text}),
        lambda: "\n".join(json.dumps({"msg": line, "rank": 1}) for line in text.split("\n")),
        lambda: repr(text),
        lambda: text.replace("\n", "\\n"),
        lambda: text.replace("\n", "\r"),
        lambda: text.replace("\n", " "),
        lambda: text.replace("<", "&lt;").replace('"', "&quot;"),
    )
    return chance.choice(ways)().encode("utf-8", "replace")


_CODE = re.compile(rb'(?m)^( *)(?:\[rank\d\]:? *)?File "[^"\n]+", line \d+[^\n]*\n\1  ([^\n]+)$')
_ARGUMENT = re.compile(
    rb"(?<=argument )\w+(?= in method)|(?<=but got )\w+(?= is on)|(?<=wrapper_CUDA_)\w+"
)
_DEVICE = re.compile(rb"\b(?:cuda:\d|cpu|meta)\b")


def another_line(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Another source line in a frame: of a real program, or mutated."""
    found = list(_CODE.finditer(data))
    if not found:
        return data
    kind = fuzz_lines.mutated if chance.random() < 0.5 else fuzz_lines.places
    line = next(kind(chance, ROOT / "tests")).text.encode("utf-8", "replace")
    start, end = chance.choice(found).span(2)
    return data[:start] + line + data[end:]


def another_argument(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Another argument or operation in the messages."""
    names = (*fuzz_lines.ARGUMENTS, *fuzz_lines.OPERATIONS)
    return _ARGUMENT.sub(lambda _: chance.choice(names).encode(), data)


def other_devices(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Devices of the messages exchanged for others."""
    other = dict(
        zip((b"cuda:0", b"cpu", b"meta", b"cuda:1"), chance.sample(_DEVICES, 4), strict=True)
    )
    return _DEVICE.sub(lambda match: other.get(match[0], match[0]), data)


_DEVICES = (b"cuda:0", b"cuda:1", b"cpu", b"meta", b"xpu:0", b"mps:0")


def widen(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    return data.decode("utf-8", "replace").encode(chance.choice(("utf-16", "utf-16-le", "utf-32")))


CHANGES: tuple[Change, ...] = (
    flip, flip, delete, delete, truncate, put, put, put, repeat, shuffle, splice, splice, prefix, wrap,
    carry, another_line, another_line, another_line, another_argument, other_devices,
)  # fmt: skip


def recordings(more: Sequence[Path] = ()) -> list[bytes]:
    """The recorded forms and traces of the project, and the reports of further folders."""
    paths = [*ROOT.glob("tests/parsing/forms/*.txt"), *ROOT.glob("tests/traces/**/*.txt")]
    paths += [path for folder in more for path in folder.glob("*.txt")]
    return [path.read_bytes() for path in sorted(paths)]


def inputs(forms: Sequence[bytes], seed: int) -> Iterator[bytes]:
    """Mutated forms, without end; the same for the same seed."""
    chance = random.Random(seed)
    while True:
        data = chance.choice(forms)
        for _ in range(chance.choice((1, 1, 2, 3, 6))):
            data = chance.choice(CHANGES)(chance, data, forms)
        if chance.random() < 0.02:
            data = widen(chance, data, forms)
        yield data


@dataclass
class Outcome:
    """How many inputs there were, the failures with what happened, and the slowest."""

    count: int
    bad: list[tuple[bytes, str]]
    slowest: float
    verdicts: dict[str, int]
    edits: int = 0


def fuzz(
    seed: int,
    count: int,
    seconds: float = 0.0,
    reports: Sequence[Path] = (),
    *,
    timed: bool = True,
) -> Outcome:
    """Judges so many inputs, or as many as fit into so many seconds if that is less (0: no limit).

    Unless it is ``timed``, nothing depends on the clock: what hangs is then the caller's to end.
    """
    judge = Judge() if timed else Judge(slow=math.inf)
    outcome = Outcome(0, [], 0.0, judge.verdicts)
    limited = timed and hasattr(signal, "setitimer")
    if limited:
        signal.signal(signal.SIGALRM, _hangs)
    end = time.monotonic() + seconds if seconds else float("inf")
    for data in itertools.islice(inputs(recordings(reports), seed), count):
        if time.monotonic() > end:
            break
        if limited:
            signal.setitimer(signal.ITIMER_REAL, HANGS)
        try:
            outcome.bad += [(data, found) for found in judge.findings(data)]
        except BaseException as error:  # whatever it is, it is a finding
            if isinstance(error, KeyboardInterrupt):
                raise
            outcome.bad.append((data, f"{type(error).__name__}: {error}"))
        finally:
            if limited:
                signal.setitimer(signal.ITIMER_REAL, 0)
        outcome.count += 1
    outcome.slowest = judge.slowest
    outcome.edits = judge.seen["edits"]
    return outcome


class _Hangs(BaseException):
    pass


def _hangs(*_: object) -> None:
    raise _Hangs(f"more than {HANGS} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--reports", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"))
    options = parser.parse_args()
    share = -(-options.count // options.jobs)
    seeds = [options.seed * 1000 + n for n in range(options.jobs)]
    start = time.monotonic()
    if options.jobs == 1:
        outcomes = [fuzz(seeds[0], share, options.seconds, options.reports)]
    else:
        with ProcessPoolExecutor(options.jobs) as pool:
            given = (share, options.seconds, options.reports)
            work = [pool.submit(fuzz, seed, *given) for seed in seeds]
            outcomes = [future.result() for future in work]
    bad = [finding for outcome in outcomes for finding in outcome.bad]
    for number, (data, what) in enumerate(bad):
        options.keep.mkdir(exist_ok=True)
        (options.keep / f"{number:04}.bin").write_bytes(data)
        print(f"{number:04} {what}"[:300])
    verdicts: dict[str, int] = {}
    for outcome in outcomes:
        for verdict, seen in outcome.verdicts.items():
            verdicts[verdict] = verdicts.get(verdict, 0) + seen
    count = sum(outcome.count for outcome in outcomes)
    print(
        f"{count} inputs in {time.monotonic() - start:.0f} s, {len(bad)} findings, slowest "
        f"{max(o.slowest for o in outcomes):.3f} s of the processor; "
        f"{sum(o.edits for o in outcomes)} edits; {verdicts}"
    )
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
