"""Are simulated GPUs true to real ones? The same small programs on both, verdicts and messages compared.

    python benchmarks/fidelity.py record -o FILE             on the GPUs of this machine (two are needed)
    python benchmarks/fidelity.py record --simulated -o FILE
    python benchmarks/fidelity.py compare FILE [--wording old]   with the simulated GPUs, in Markdown

The programs are fidelity/programs.toml; docs/simulated-gpus.md says on what the records were made.
"""

from __future__ import annotations

import argparse
import ast
import json
import linecache
import os
import re
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diagnose._toml import loads

FOLDER = Path(__file__).with_name("fidelity")
PRELUDE = """
import copy, importlib, io, pickle
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

A, B, cpu, meta = "cuda:0", "cuda:1", "cpu", "meta"

def on(device, *shape):
    return torch.ones(shape or (3, 4), device=device)

def ids(device):
    return torch.tensor([0, 2, 1], device=device)
"""
# Idle GPUs (fidelity/idle_gpus.py) come to a library that they do not have: nobody knows what follows.
BEYOND_THE_CHECKS = re.compile(
    r"CU(DNN|BLAS|SOLVER|SPARSE)_STATUS|unable to find an engine|cudnnGetRNN|CUDA error: unknown"
)
IDLE = "Idle GPU"


@dataclass(frozen=True)
class Program:
    """A small program, its name, and how many GPUs it sees."""

    name: str
    source: str
    gpus: int


def load_programs() -> dict[str, Program]:
    """The programs by name, "topic: name"."""
    topics = loads((FOLDER / "programs.toml").read_text(encoding="utf-8"))
    return {
        f"{topic}: {name}": Program(
            f"{topic}: {name}", source.strip(), 1 if "one GPU" in topic else 2
        )
        for topic, programs in topics.items()
        for name, source in programs.items()
    }


# --- one program ---


def outcome(program: Program) -> dict[str, Any]:
    """Run a program.

    Returns:
        What it `passes` with, the device of its value; or what it `fails` with, and the `message`; or
        why it is `undecided`.
    """
    import torch

    names: dict[str, Any] = {"__name__": "program"}
    exec(PRELUDE, names)
    file = f"<{program.name}>"  # TorchScript reads the source
    linecache.cache[file] = (
        len(program.source),
        None,
        program.source.splitlines(keepends=True),
        file,
    )
    tree = ast.parse(program.source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    torch.manual_seed(0)
    try:
        exec(compile(tree, file, "exec"), names)
        value = eval(compile(ast.Expression(last.value), file, "eval"), names) if last else None
        return {"passes": device_of(value)}
    except Exception as error:
        if BEYOND_THE_CHECKS.search(str(error)) and torch.cuda.get_device_name() == IDLE:
            return {"undecided": "a library that idle GPUs lack"}
        if isinstance(error, ModuleNotFoundError):
            return {"undecided": str(error)}
        return {"fails": type(error).__name__, "message": gist(str(error))}
    finally:
        torch.cuda.set_device(0)


def device_of(value: Any) -> str | None:
    """The device of a tensor, of the first of several, of a module's first parameter."""
    while isinstance(value, list | tuple) and value:
        value = value[0]
    if hasattr(value, "parameters"):
        value = next(iter(value.parameters()), None)
    return str(value.device) if hasattr(value, "device") else None


def worker(names: list[str], simulated: bool, wording: Any) -> None:
    """Print the outcome of each program, one JSON object a line."""
    programs = load_programs()
    warnings.simplefilter("ignore")
    if not simulated:
        _spare_idle_gpus()
    for name in names:
        gpus: Any = nullcontext()
        if simulated:
            from diagnose.simulation import simulated_gpus

            gpus = simulated_gpus(programs[name].gpus, wording=wording)
        print(json.dumps({"start": name}), flush=True)
        with gpus:
            found = outcome(programs[name])
        print(json.dumps({"name": name, **found}), flush=True)
    os._exit(0)  # without CUDA's farewell


def _spare_idle_gpus() -> None:
    import torch

    if (
        torch.cuda.get_device_name() == IDLE
    ):  # only cuDNN knows how it lays out the weights of an RNN
        torch._cudnn_rnn_flatten_weight = lambda *args: None


# --- all of them ---


def record(simulated: bool, wording: str = "new") -> dict[str, Any]:
    """Run all programs, in processes of their own, and return what is to be stored."""
    outcomes: dict[str, Any] = {}
    for gpus in (2, 1):
        waiting = [p.name for p in load_programs().values() if p.gpus == gpus]
        while waiting:
            done = dict(_outcomes_of(waiting, gpus, simulated, wording))
            outcomes |= done
            waiting = [name for name in waiting if name not in done]
    order = {name: outcomes[name] for name in load_programs()}
    return {"machine": _machine(simulated, wording), "outcomes": order}


def _outcomes_of(
    names: list[str], gpus: int, simulated: bool, wording: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Outcomes of one process; the program that killed it is the last."""
    environment = dict(os.environ)
    if not simulated:
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(gpus)))
    command = [
        sys.executable,
        __file__,
        "worker",
        "--wording",
        wording,
        *["--simulated"] * simulated,
    ]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdin and process.stdout
    process.stdin.write("\n".join(names))
    process.stdin.close()
    running = None
    for line in process.stdout:
        if not line.startswith('{"'):
            continue  # what a program printed
        found = json.loads(line)
        running = found.get("start", running)
        if "name" in found:
            running = ""
            yield found.pop("name"), found
    status = process.wait()
    if running is None:
        raise SystemExit(f"the programs could not be started (exit status {status})")
    if running:
        yield running, {"crashes": status}


def _machine(simulated: bool, wording: str) -> dict[str, Any]:
    code = "import torch, json; c = torch.cuda; print(json.dumps({'torch': torch.__version__, "
    code += "'gpus': [c.get_device_name(i) for i in range(c.device_count())]}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if simulated:
        found["gpus"] = [f"simulated, {wording} wording"]
    return found


# --- comparing ---


def gist(message: str) -> str:
    """What of a message is recorded: its first line, and the last of one passed on by a replica.

    The rest are hints and paths that differ from one build to the next.
    """
    lines = message.strip().splitlines() or [""]
    first = lines[0].partition(" This could be because")[0]  # a list of backends follows
    passed_on = "Original Traceback" in message or "TorchScript interpreter" in message
    return f"{first} ... {lines[-1]}" if passed_on else first


def same(real: dict[str, Any], ours: dict[str, Any]) -> tuple[bool, bool]:
    """Whether two outcomes agree in their verdict, and in the rest: device, or exception and message."""
    verdict = ("passes" in real) == ("passes" in ours)
    return verdict, real == ours


def report(real: dict[str, Any], ours: dict[str, Any]) -> str:
    """The comparison in Markdown: a table by topic, and each difference."""
    count: Counter[tuple[str, str]] = Counter()
    differences: list[str] = []
    for name, program in load_programs().items():
        recorded, found = real["outcomes"].get(name), ours["outcomes"][name]
        if recorded is None or not {"fails", "passes"} & set(recorded):
            continue
        topic = name.partition(": ")[0]
        verdict, rest = same(recorded, found)
        illegal = "fails" in recorded
        for row in (topic, "**all**"):
            count[row, "n"] += 1
            count[row, "illegal"] += illegal
            count[row, "verdict"] += verdict
            count[row, "message"] += illegal and rest
            count[row, "device"] += not illegal and rest
        if not (verdict and rest):
            code = program.source.replace("\n", "; ")
            differences.append(
                f"* {name}\n  `{code[:150]}`\n  GPU: {_said(recorded)}\n  simulated: {_said(found)}"
            )
    lines = ["| | programs | same verdict | illegal | same message | legal | same device |"]
    lines += ["| --- " * 7 + "|"]
    for row in [
        *(row for row in dict.fromkeys(row for row, _ in count) if row != "**all**"),
        "**all**",
    ]:
        n, illegal = count[row, "n"], count[row, "illegal"]
        cells = (
            n,
            count[row, "verdict"],
            illegal,
            count[row, "message"],
            n - illegal,
            count[row, "device"],
        )
        lines.append(f"| {row} | " + " | ".join(map(str, cells)) + " |")
    return "\n".join([*lines, "", *differences])


def _said(found: dict[str, Any]) -> str:
    if "fails" in found:
        return f"{found['fails']}: {found['message']}"
    return f"passes ({found['passes']})" if "passes" in found else "crashes"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("command", choices=("record", "compare", "worker"))
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--wording", choices=("new", "old"), default="new")
    options = parser.parse_args()
    if options.command == "worker":
        worker(sys.stdin.read().splitlines(), options.simulated, options.wording)
    elif options.command == "record":
        text = json.dumps(record(options.simulated, options.wording), indent=1, ensure_ascii=False)
        (options.output or Path("/dev/stdout")).write_text(text + "\n", encoding="utf-8")
    else:
        real = json.loads(options.file.read_text(encoding="utf-8"))
        print(report(real, record(True, options.wording)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
