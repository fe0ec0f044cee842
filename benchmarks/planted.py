"""Takes one move or one device= at a time out of right programs, and counts what `diagnose check` finds.

    python benchmarks/planted.py FILE... [--show]

Nothing is run: some programs still run without that move (a library moves it, or all stays on the cpu), so
that the share that is found is less than the recall. A program in which something is found as it is counts
as a false alarm, and is left out. ``--show`` prints what was taken out where nothing was found.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from diagnose.casebase.store import load
from diagnose.placement import Source, check

#: In the arguments of ``.to(...)``: a type, or the host, and no accelerator.
_ELSEWHERE = ("dtype", "float", "half", "torch.long", "cpu")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args(argv)
    counts = Counter[str]()
    for path in options.files:
        counts["programs"] += 1
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if found(tree, path):
            counts["false alarms"] += 1
            continue
        for what in planted(tree):
            counts["planted"] += 1
            if found(tree, path):
                counts["found"] += 1
            elif options.show:
                print(f"{path.name}: {what}")
    print(", ".join(f"{name} {count}" for name, count in counts.items()))
    return 0


def found(tree: ast.Module, path: Path) -> bool:
    """Whether something is sure to fail in a program."""
    text = ast.unparse(tree)
    source = Source(str(path), text.split("\n"), ast.parse(text))
    return any(one.sure for one in check(source, load().knowledge.torch).suspects)


def planted(tree: ast.Module) -> Iterator[str]:
    """What is taken out, while the tree lacks it."""
    for node in list(ast.walk(tree)):
        for field, value in list(ast.iter_fields(node)):
            if isinstance(value, list):
                for position, one in enumerate(value):
                    if isinstance(one, ast.Call) and is_move(one):
                        value[position] = one.func.value  # type: ignore[attr-defined]
                        yield ast.unparse(one)
                        value[position] = one
                    elif isinstance(one, ast.keyword) and is_device(node, one):
                        del value[position]
                        yield f"{one.arg}={ast.unparse(one.value)}"
                        value.insert(position, one)
            elif isinstance(value, ast.Call) and is_move(value):
                setattr(node, field, value.func.value)  # type: ignore[attr-defined]
                yield ast.unparse(value)
                setattr(node, field, value)


def is_move(call: ast.Call) -> bool:
    """Whether a call brings what it is called on to an accelerator."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("to", "cuda"):
        return False
    given = " ".join(map(ast.unparse, [*call.args, *call.keywords]))
    return call.func.attr == "cuda" or bool(given and not any(one in given for one in _ELSEWHERE))


def is_device(call: ast.AST, keyword: ast.keyword) -> bool:
    """Whether a keyword tells a factory of torch an accelerator."""
    if keyword.arg != "device" or not isinstance(call, ast.Call):
        return False
    called, told = ast.unparse(call.func), ast.unparse(keyword.value)
    return called.startswith("torch.") and "Generator" not in called and told != "'cpu'"


if __name__ == "__main__":
    raise SystemExit(main())
