"""Does kb/operators.toml name the arguments that torch's CUDA wrappers name, in their order?

    python benchmarks/fidelity/wrappers.py

Calls each operator whose check torch generates, once for each of its tensors with that one on the cpu, and
compares what torch says with what the table says. The wrapper checks devices before anything else, so the
arguments need not make sense. Runs where torch has CUDA, real or idle (idle_gpus.py).
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import torch

from diagnose._toml import load
from diagnose.simulation.checks import DeviceChecks, Operand
from diagnose.simulation.operators import load_rules, operators_path

GPU, CPU = torch.device("cuda", 0), torch.device("cpu")


def values(schema: Any, elsewhere: str) -> Iterator[tuple[Any, Any]]:
    """The schema's arguments with something to pass for each; the named tensor is on the cpu."""
    for argument in schema.arguments:
        kind = str(argument.type)
        device = CPU if argument.name == elsewhere else GPU
        if "Tensor" in kind:
            tensor = torch.ones(2, 2, device=device)
            yield argument, [tensor] if "List" in kind else tensor
        elif argument.has_default_value():
            continue
        elif "List" in kind:
            yield argument, [1] * (argument.N or 2)
        else:
            plain = {
                "bool": True,
                "float": 1.0,
                "number": 1,
                "str": "sum",
                "ScalarType": torch.float,
            }
            yield argument, next((plain[k] for k in plain if k in kind), 1)


def said(function: Any, elsewhere: str) -> str:
    """What torch says."""
    args, kwargs = [], {}
    for argument, value in values(function._schema, elsewhere):
        if argument.kwarg_only or len(args) < function._schema.arguments.index(argument):
            kwargs[argument.name] = value
        else:
            args.append(value)
    try:
        function(*args, **kwargs)
    except Exception as error:
        return str(error).splitlines()[0] if str(error) else type(error).__name__
    return "passes"


def main() -> int:
    """Print the share that agrees, and the rest."""
    warnings.simplefilter("ignore")
    agree, tried, differ, other = 0, 0, [], []
    with operators_path().open("rb") as file:
        generated = load(file)["checked"]
    for name, rule in load_rules().items():
        operator, _, overload = name.partition(".")
        function = getattr(getattr(torch.ops.aten, operator), overload or "default")
        if name not in generated or len(rule.arguments) < 2:
            continue
        for elsewhere, _ in rule.arguments:
            operands = [
                Operand(a, torch.empty(2, 2), CPU if a == elsewhere else GPU)
                for a, _ in rule.arguments
            ]
            try:
                DeviceChecks("new").same_device(rule.method, rule.arguments, operands)
                expected = "passes"
            except RuntimeError as error:
                expected = str(error)
            found = said(function, elsewhere)
            if "when checking argument" not in found:
                other.append((name, elsewhere, found[:110]))
                continue
            tried += 1
            agree += found == expected
            if found != expected:
                differ.append((name, elsewhere, found, expected))
    for name, elsewhere, found, expected in differ:
        print(f"{name}, {elsewhere} on the cpu\n  torch: {found}\n  table: {expected}")
    for row in other:
        print("not compared:", *row, sep=" | ")
    print(f"{agree} of {tried} sentences agree; {len(other)} calls ended otherwise")
    sys.stdout.flush()
    os._exit(0)  # without CUDA's farewell


if __name__ == "__main__":
    sys.exit(main())
