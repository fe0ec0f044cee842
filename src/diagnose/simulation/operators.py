"""What kb/operators.toml says of an aten operator: which of its tensors CUDA compares, and how."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from .tables import read_table, table_path

Kind = Literal["checked", "elementwise", "reduction", "free"]


@dataclass(frozen=True, slots=True)
class Rule:
    """How CUDA checks one operator.

    `method` is the wrapper's name and `arguments` the (schema name, printed name) pairs in the
    order of comparison, both for the kind "checked" only. `cpu_scalars` is how many 0-dim cpu
    tensors may join inputs on a GPU, None for any number.
    """

    kind: Kind
    method: str = ""
    arguments: tuple[tuple[str, str], ...] = ()
    cpu_scalars: int | None = 1


def operators_path() -> Path:
    """Return where operators.toml is.

    Raises:
        FileNotFoundError: it is nowhere.
    """
    return table_path("operators.toml")


@lru_cache(maxsize=1)
def _tables() -> dict[str, Any]:
    return read_table("operators.toml")


@lru_cache(maxsize=1)
def load_rules() -> dict[str, Rule]:
    """Return the rule of each operator that operators.toml names, by "operator.overload"."""
    data = _tables()
    rules: dict[str, Rule] = {}
    rules.update((name, Rule("elementwise")) for name in data["elementwise"])
    rules.update(
        (name, Rule("elementwise", cpu_scalars=None)) for name in data["elementwise_any_scalars"]
    )
    rules.update(
        (name, Rule("elementwise", cpu_scalars=0)) for name in data["elementwise_no_scalars"]
    )
    rules.update((name, Rule("reduction")) for name in data["reduction"])
    rules.update((name, Rule("free")) for name in data["free"])
    for table in ("checked", "reached"):
        for name, entry in data[table].items():
            rules[name] = Rule("checked", entry["method"], tuple(map(_pair, entry["args"])))
    return rules


def is_cpu_only(name: str) -> bool:
    """Say whether no build of torch has a CUDA kernel for an operator ("namespace::operator")."""
    return name in _tables()["cpu_only"]


def _pair(argument: str) -> tuple[str, str]:
    name, _, printed = argument.partition("=")
    return name, printed or name


def rule_of(name: str) -> Rule:
    """Return the rule of an operator ("operator.overload"); unnamed ones count as elementwise."""
    return load_rules().get(name, _DEFAULT)


_DEFAULT = Rule("elementwise")
