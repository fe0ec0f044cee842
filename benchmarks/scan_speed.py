"""Speed and memory of ``diagnose`` on a large log, beside grep and ripgrep on the same file.

    python benchmarks/scan_speed.py [--megabytes 2000] [--rounds 5]

Writes a log (progress bars, loss lines, warnings, three tracebacks), lets the commands take turns on it,
so that whatever else the machine does falls on all of them alike, prints medians and ratios, and removes
the log. Run it in the environment that diagnose is installed in.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

FRAMES = """\
Traceback (most recent call last):
  File "/home/user/project/train.py", line 40, in <module>
    main()
  File "/home/user/project/train.py", line 31, in main
    loss = net(batch)
  File "/opt/env/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1736, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
"""
TRACEBACKS = (
    FRAMES + '  File "/home/user/project/net.py", line 12, in forward\n'
    "    return x + self.pe[:, : x.size(1)]\n"
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
    "cuda:0 and cpu!\n",
    FRAMES + '  File "/home/user/project/net.py", line 30, in attend\n'
    "    return q @ k\n"
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x64 and 32x8)\n",
    FRAMES + '  File "/home/user/project/data.py", line 7, in get\n'
    "    return self.rows[name]\n"
    "KeyError: 'input_ids'\n",
)
PIECE = 4_000_000


def lines(chance: random.Random) -> Iterator[str]:
    """The lines of a training run, without end."""
    step = 0
    while True:
        step += 1
        kind = chance.random()
        if kind < 0.5:
            yield (
                f"2026-11-21 08:{step // 60 % 60:02}:{step % 60:02},{step % 1000:03} [INFO] trainer: "
                f"step {step} loss {chance.random():.4f} lr {chance.random() * 1e-4:.3e} "
                f"tokens/s {chance.randint(1000, 99999)}\n"
            )
        elif kind < 0.6:
            bars = (
                f"\rEpoch 3: {k:3}%|{'█' * (k // 10):10}| {k * 10}/1000 [00:{k:02}<01:{k:02}, loss=0.{k}3]"
                for k in range(0, 100, 20)
            )
            yield "".join(bars) + "\n"
        elif kind < 0.62:
            yield (
                "/opt/env/lib/python3.11/site-packages/torch/utils/checkpoint.py:429: UserWarning: "
                "torch.utils.checkpoint: please pass use_reentrant explicitly.\n  warnings.warn(\n"
            )
        else:
            yield (
                f"{{'loss': {chance.random():.4f}, 'grad_norm': {chance.random():.5f}, "
                f"'learning_rate': {chance.random() * 1e-5:.6e}, 'epoch': {step / 1000:.2f}}}\n"
            )


def write(path: Path, size: int) -> list[int]:
    """Writes the log; the lines in which its three exceptions stand."""
    stream = lines(random.Random(7))
    pieces: list[tuple[bytes, int]] = []
    for _ in range(8):  # pieces of different lines, to be repeated in turns
        text: list[str] = []
        length = 0
        while length < PIECE:
            text.append(next(stream))
            length += len(text[-1])
        data = "".join(text).encode()
        pieces.append((data, data.count(b"\n")))
    places = [0.1, 0.5, 0.9]
    found: list[int] = []
    written = line = turn = 0
    with path.open("wb") as file:
        while written < size:
            if len(found) < 3 and written >= places[len(found)] * size:
                data = TRACEBACKS[len(found)].encode()
                count = data.count(b"\n")
                found.append(line + count)
            else:
                data, count = pieces[turn % len(pieces)]
                turn += 1
            file.write(data)
            written += len(data)
            line += count
    return found


def run(command: list[str]) -> tuple[float, float, str]:
    """Seconds by the clock, and of the processor, and the output."""
    before = os.times()
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    after = os.times()
    used = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return seconds, used, done.stdout


def peak(command: list[str]) -> int:
    """Most resident memory of a command and its children together, in bytes."""
    import psutil

    process = psutil.Popen(command, stdout=subprocess.DEVNULL)
    most = 0
    while process.poll() is None:
        total = 0
        try:
            for one in [process, *process.children(recursive=True)]:
                total += one.memory_info().rss
        except psutil.Error:
            pass
        most = max(most, total)
        time.sleep(0.01)
    return most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    diagnose = [sys.executable, "-m", "diagnose"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.log")
        expected = write(path, options.megabytes * 1_000_000)
        table = {
            "grep -c Traceback": ["grep", "-c", "Traceback", str(path)],
            "diagnose --group": [*diagnose, "--group", "--format", "json", str(path)],
            "diagnose": [*diagnose, str(path)],
        }
        if shutil.which("rg"):
            table["rg -c Traceback"] = ["rg", "-c", "Traceback", str(path)]
        else:
            print("ripgrep is not installed (Debian: apt-get install ripgrep); left out")
        clock: dict[str, list[float]] = {name: [] for name in table}
        cpu: dict[str, list[float]] = {name: [] for name in table}
        for turn in range(options.rounds + 1):
            for name, command in table.items():
                seconds, used, output = run(command)
                if turn:  # the first round fills the page cache
                    clock[name].append(seconds)
                    cpu[name].append(used)
                if name == "diagnose":
                    lines = sorted(f["first_line"] for f in json.loads(output)["failures"])
                    assert lines == expected, (lines, expected)
        base = "grep -c Traceback"
        print(f"{path.stat().st_size / 1e9:.2f} GB, median of {options.rounds} rounds in turns")
        print(f"{'':20} {'s':>7} {'GB/s':>6} {'of grep':>8} {'cpu s':>7} {'of grep':>8}")
        for name in table:
            wall, used = statistics.median(clock[name]), statistics.median(cpu[name])
            print(
                f"{name:20} {wall:7.2f} {path.stat().st_size / wall / 1e9:6.2f} "
                f"{statistics.median(clock[base]) / wall:8.2f} {used:7.2f} "
                f"{statistics.median(cpu[base]) / used:8.2f}"
            )
        print(f"most memory of diagnose: {peak(table['diagnose']) / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
