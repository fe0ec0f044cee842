"""Writes kb/aten.toml: what torch declares of its operators, by the names that programs call them.

    python scripts/aten.py           writes it from the installed torch
    python scripts/aten.py --print   prints it

Read from native_functions.yaml, which torch's wheel carries (torchgen/packaged): each operator's schema and
tags. What torch defines in Python instead stands in kb/torch.toml, under the same names of lists.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).parents[1] / "kb" / "aten.toml"

HEAD = """\
# Written by scripts/aten.py from native_functions.yaml of torch {version}: do not edit.
# What torch declares of its operators that programs can call, in place with _ at the end left out.
"""

_SCHEMA = re.compile(r"(\w+)(?:\.\w+)?\((.*)\) -> (.*)")
#: Forms that write into what they are given as out=: a factory takes no other tensor.
_OUT = re.compile(r"\*, .*!\).*\) ->")
_BETWEEN = re.compile(r",\s*(?![^\[(]*[\])])")


class Overload(NamedTuple):
    """One schema of an operator: the types of its arguments, what it returns, and its tags."""

    arguments: Sequence[str]
    returns: str
    tags: Sequence[str]

    def tensors(self) -> int:
        """How many arguments are tensors."""
        return sum(one.startswith("Tensor") for one in self.arguments)


Overloads = Sequence[Overload]

#: Modules of torch whose name an operator's begins with.
_ROOMS = frozenset({"linalg", "special", "fft"})
#: How operators begin that no program calls: kernels of one backend, and torch's own.
_INTERNAL = ("_", "cudnn_", "miopen_", "mkldnn_", "fbgemm_", "native_")


def _gives_tensor(one: Overload) -> bool:
    return one.tensors() > 0 and "Tensor" in one.returns


def _joins(one: Overload) -> bool:
    lists = one.arguments[:1] and one.arguments[0].startswith("Tensor[]")
    return bool(lists) and one.returns.startswith("Tensor") and "[]" not in one.returns


def _several(one: Overload) -> bool:
    return one.returns.startswith("(") or "[]" in one.returns


#: The lists, each with the comment that kb/aten.toml gives it and what an operator's schemas have to be.
LISTS: dict[str, tuple[str, Callable[[Overloads], bool]]] = {
    "operations": (
        "They take tensors, and give some.",
        lambda every: any(map(_gives_tensor, every)),
    ),
    "joins": ("They take a list of tensors, and give one.", lambda every: any(map(_joins, every))),
    "several-results": (
        "They give several tensors, in every form.",
        lambda every: all(map(_several, every)) and any(map(_gives_tensor, every)),
    ),
    "losses": (
        "They take a reduction, which is the mean.",
        lambda every: any("reduction=Mean" in given for one in every for given in one.arguments),
    ),
    "reductions": (
        "They are tagged as reductions.",
        lambda every: any("reduction" in one.tags for one in every),
    ),
}


def declared() -> tuple[str, dict[str, list[str]]]:
    """Torch's version, and the lists. Raises ImportError without torch and PyYAML."""
    import torch
    import torchgen
    import yaml

    path = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    operators = defaultdict[str, list[Overload]](list)
    for row in yaml.safe_load(path.read_text(encoding="utf-8")):
        name, overload = _read(row)
        if _OUT.search(row["func"]):
            continue
        # torch.linalg.norm is the operator linalg_norm.
        room, _, last = name.partition("_")
        inner = getattr(torch, room, None) if room in _ROOMS else None
        if inner is not None and hasattr(inner, last) and not last.startswith("_"):
            operators[last].append(overload)
        elif not name.startswith(_INTERNAL) and any(
            hasattr(owner, name) for owner in (torch, torch.Tensor, torch.nn.functional)
        ):
            operators[name.rstrip("_")].append(overload)
    found = {
        key: sorted(name for name, every in operators.items() if holds(every))
        for key, (_, holds) in LISTS.items()
    }
    # What torch wraps in Python gives one tensor unless it is asked for more.
    wrapped = {
        name
        for name in operators
        if any(inspect.isfunction(getattr(one, name, None)) for one in (torch, torch.nn.functional))
    }
    found["several-results"] = [one for one in found["several-results"] if one not in wrapped]
    return torch.__version__.partition("+")[0], found


def _read(row: dict[str, Any]) -> tuple[str, Overload]:
    matched = _SCHEMA.fullmatch(row["func"])
    assert matched is not None, row["func"]
    name, arguments, returns = matched.groups()
    tags = row.get("tags", ())
    listed = [tags] if isinstance(tags, str) else list(tags)
    return name, Overload([one for one in _BETWEEN.split(arguments) if one], returns, listed)


def written(version: str, lists: dict[str, list[str]]) -> str:
    """The text of kb/aten.toml."""
    parts = [HEAD.format(version=version)]
    for key, names in lists.items():
        body = textwrap.fill(", ".join(f'"{name}"' for name in names), 98)
        parts.append(f"\n# {LISTS[key][0]}\n{key} = [\n{textwrap.indent(body, '  ')},\n]\n")
    return "".join(parts)


if __name__ == "__main__":
    text = written(*declared())
    if "--print" in sys.argv[1:]:
        sys.stdout.write(text)
    else:
        FILE.write_text(text, encoding="utf-8")
