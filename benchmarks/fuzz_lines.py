"""Lines of real programs, as they are and mutated, as the line that failed: no crash, no broken edit.

    python benchmarks/fuzz_lines.py [--count 100000] [--mutated 0.5] [--seed 0] [--seconds 0] [--jobs 1]

The lines are those of the packages that are installed here; a real line stands at its own path, so that the
answer comes with a diff, which is applied. Findings are told, and the exit status is 1 then. tests/fuzz
runs a few of them without a clock.
"""

from __future__ import annotations

import argparse
import ast
import copy
import math
import random
import sys
import sysconfig
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from judge import HOOK, Judge

FUNCTIONS = (
    "torch.gather", "x.gather", "torch.cat", "torch.stack", "torch.index_select", "x.index_select",
    "torch.load", "np.array", "x.numpy", "x.to", "x.cuda", "self.loss_fn", "F.embedding", "F.linear",
    "torch.zeros", "torch.tensor", "torch.arange", "model", "self.encoder", "x.scatter_", "torch.take",
    "F.cross_entropy", "Auto.from_pretrained", "torch.from_numpy", "torch.Tensor", "é.ñ.gather", "cat",
    "x.index_put_", "a[0].gather", "f(x).gather", "torch.where", "np.asarray", "x.masked_fill_",
)  # fmt: skip
KEYWORDS = (
    "input", "dim", "index", "target", "weight", "other", "mat2", "device", "device_map", "map_location",
    "tensors", "src", "indices", "alpha",
)  # fmt: skip
EXPRESSIONS = (
    "x", "y.z", "self.pe[:, :n]", "é", "batch['ids']", "(a + b)", "-a", "f(x)", "a @ b", "x.t()", "*args",
    "lambda q: q", "[a for a in b]", "(yield)", "(w := a)", "'cuda'", "0", "None", "f'{a + b}'", "not a",
    "a if b else c", "x[:, i]", "{**a}", "[a, b]", "(a, b)", "()", "'日本' + s", "a < b", "a is b", "...",
    "torch.zeros(3)", "a.numpy()", "self", "x.to(y.device)", "tokenizer", "('auto')",
)  # fmt: skip
ARGUMENTS = (
    "target",
    "index",
    "weight",
    "mat2",
    "mat1",
    "other",
    "self",
    "tensors",
    "src",
    "bias",
    "é",
)
OPERATIONS = (
    "addmm", "mm", "bmm", "_index_select", "gather", "nll_loss_forward", "cat", "scatter__src", "cudnn_rnn",
    "native_layer_norm", "__cdist_forward",
)  # fmt: skip
DEVICES = (
    ("cuda:0", "cpu"),
    ("cpu", "cuda:0"),
    ("cuda:1", "cuda:0"),
    ("cuda:0", "meta"),
    ("npu:0", "cpu"),
)
MESSAGES = (
    "Expected all tensors to be on the same device, but found at least two devices, {a} and {b}!",
    "Expected all tensors to be on the same device, but found at least two devices, {a} and {b}! (when"
    " checking argument for argument {arg} in method wrapper_CUDA_{op})",
    "Expected all tensors to be on the same device, but got {arg} is on {b}, different from other tensors"
    " on {a} (when checking argument in method wrapper_CUDA_{op})",
    "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same",
    "indices should be either on cpu or on the same device as the indexed tensor ({b})",
    "can't convert {a} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory"
    " first.",
    "Expected a '{a}' device type for generator but found '{b}'",
    "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False.",
    "Cannot copy out of meta tensor; no data!",
    "`.to` is not supported for `4-bit` or `8-bit` bitsandbytes models.",
    "module must have its parameters and buffers on device {a} (device_ids[0]) but found one of them on"
    " device: {b}",
)  # fmt: skip
LAYERS = (
    "",
    '  File "/v/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1773, in _call_impl\n'
    "    return forward_call(*args, **kwargs)\n"
    '  File "/v/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 125, in forward\n'
    "    return F.linear(input, self.weight, self.bias)\n",
)


@dataclass(frozen=True)
class Place:
    """A line of a file."""

    file: str
    number: int
    text: str


@dataclass
class Outcome:
    """How many lines, what went wrong, and what was seen."""

    count: int = 0
    bad: list[str] = field(default_factory=list)
    slowest: float = 0.0
    seen: dict[str, int] = field(default_factory=dict)


def files(chance: random.Random, root: Path | None = None) -> Iterator[Path]:
    """The Python files of the installed packages, and of Python itself, in an order of chance, for ever."""
    roots = [root] if root else [Path(sysconfig.get_path(name)) for name in ("purelib", "stdlib")]
    found = sorted({path for folder in roots for path in folder.rglob("*.py")})
    while True:
        chance.shuffle(found)
        yield from found


def places(chance: random.Random, root: Path | None = None, each: int = 12) -> Iterator[Place]:
    """Lines of real programs, a few of each file."""
    for path in files(chance, root):
        try:
            lines = path.read_text(encoding="utf-8").split("\n")
        except (OSError, ValueError):
            continue
        numbered = [
            (n, line.strip()) for n, line in enumerate(lines, 1) if 3 < len(line.strip()) < 500
        ]
        for number, line in chance.sample(numbered, min(each, len(numbered))):
            yield Place(str(path), number, line)


def mutated(chance: random.Random, root: Path | None = None, each: int = 12) -> Iterator[Place]:
    """Statements of real programs with other functions, arguments and operands, some cut off."""
    for path in files(chance, root):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, SyntaxError, RecursionError):
            continue
        found = [
            s
            for s in ast.walk(tree)
            if isinstance(s, ast.stmt) and not hasattr(s, "decorator_list")
        ]
        for statement in chance.sample(found, min(each, len(found))):
            line = _mutated(chance, statement)
            if line:
                yield Place(f"/home/user/{path.name}", chance.randrange(1, 2000), line)


def _mutated(chance: random.Random, statement: ast.stmt) -> str:
    try:
        statement = copy.deepcopy(statement)
        for name in ("body", "orelse", "finalbody", "handlers"):
            if isinstance(getattr(statement, name, None), list):
                setattr(statement, name, [ast.Pass()] if name == "body" else [])
        tree = ast.fix_missing_locations(_Mutator(chance).visit(statement))
        line = ast.unparse(tree).split("\n")[0].strip()
    except (ValueError, TypeError, AttributeError, RecursionError):
        return ""
    if chance.random() < 0.2:
        line = line[: chance.randrange(len(line) + 1)]
    if chance.random() < 0.1:
        line = line.replace(", ", ",  ").replace("(", "( ") + "  # a + b.to(c)"
    if chance.random() < 0.1 and line.startswith("if "):
        line = "el" + line
    return line[:1500].strip()


class _Mutator(ast.NodeTransformer):
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def expression(self, starred: bool = False) -> ast.expr:
        text = self.chance.choice(EXPRESSIONS)
        if text.startswith("*"):
            return (
                ast.parse(f"f({text})", mode="eval").body.args[0]
                if starred
                else ast.Name("q", ast.Load())
            )  # type: ignore[attr-defined]
        return ast.parse(text, mode="eval").body

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if self.chance.random() < 0.4:
            node.func = ast.parse(self.chance.choice(FUNCTIONS), mode="eval").body
        if self.chance.random() < 0.3:
            node.args = [self.expression(starred=True) for _ in range(self.chance.randrange(4))]
        if self.chance.random() < 0.3:
            names = self.chance.sample(KEYWORDS, self.chance.randrange(4))
            node.keywords = [ast.keyword(name, self.expression()) for name in names]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        replace = isinstance(node.ctx, ast.Load) and self.chance.random() < 0.2
        return self.expression() if replace else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if self.chance.random() < 0.2:
            operator = self.chance.choice([ast.Lt(), ast.Eq(), ast.Is(), ast.In()])
            return ast.Compare(node.left, [operator], [node.right])
        if self.chance.random() < 0.3:
            node.op = self.chance.choice([ast.Add(), ast.MatMult(), ast.Mult(), ast.Pow()])
        return node


def report(chance: random.Random, place: Place) -> tuple[str, str]:
    """A traceback in which the line fails, perhaps with carets, and its message."""
    a, b = chance.choice(DEVICES)
    values = {"a": a, "b": b, "arg": chance.choice(ARGUMENTS), "op": chance.choice(OPERATIONS)}
    message = chance.choice(MESSAGES).format(**values)
    carets = ""
    if chance.random() < 0.4:
        start = chance.randrange(len(place.text) + 1)
        length = chance.randrange(1, len(place.text) + 2)
        span = _node_span(chance, place.text) or (start, start + length)
        carets = f"    {' ' * span[0]}{'^' * (span[1] - span[0])}\n"
    return (
        "Traceback (most recent call last):\n"
        f'  File "{place.file}", line {place.number}, in forward\n'
        f"    {place.text}\n{carets}{chance.choice(LAYERS)}RuntimeError: {message}\n"
    ), message


def _node_span(chance: random.Random, line: str) -> tuple[int, int] | None:
    """Columns of an expression of the line, as carets underline it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(line)
    except (SyntaxError, ValueError, RecursionError):
        return None
    nodes = [
        n
        for n in ast.walk(tree)
        if isinstance(n, (ast.Call, ast.BinOp, ast.Subscript, ast.Compare))
    ]
    if not nodes or not line.isascii():
        return None
    node = chance.choice(nodes)
    return node.col_offset, node.end_col_offset or node.col_offset + 1


def fuzz(
    seed: int,
    count: int,
    share: float = 0.5,
    seconds: float = 0.0,
    root: Path | None = None,
    *,
    timed: bool = True,
) -> Outcome:
    """Judges answers to so many lines, a share of them mutated, in so many seconds at most (0: any); unless
    it is ``timed``, nothing depends on the clock."""
    chance = random.Random(seed)
    judge, outcome = Judge() if timed else Judge(slow=math.inf), Outcome()
    real, other = places(chance, root), mutated(chance, root)
    end = time.monotonic() + seconds if seconds else float("inf")
    while outcome.count < count and time.monotonic() < end:
        place = next(other) if chance.random() < share else next(real)
        data, message = report(chance, place)
        try:
            found = judge.findings(data.encode("utf-8", "replace"))
            if outcome.count % HOOK == 0:
                found += judge.live(message, place.text, place.file)
        except Exception as error:
            found = [f"{type(error).__name__}: {error}"]
        outcome.bad += [f"{what}\n{data}" for what in found]
        outcome.count += 1
    outcome.slowest, outcome.seen = judge.slowest, {**judge.seen, **judge.verdicts}
    return outcome


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--mutated", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(argv)
    share = -(-options.count // options.jobs)
    work = [
        (options.seed * 1000 + n, share, options.mutated, options.seconds)
        for n in range(options.jobs)
    ]
    start = time.monotonic()
    if options.jobs == 1:
        outcomes = [fuzz(*work[0])]
    else:
        with ProcessPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(fuzz, *zip(*work, strict=True)))
    bad = [finding for outcome in outcomes for finding in outcome.bad]
    for finding in bad[:50]:
        print(finding)
    seen: dict[str, int] = {}
    for outcome in outcomes:
        for key, value in outcome.seen.items():
            seen[key] = seen.get(key, 0) + value
    print(
        f"{sum(o.count for o in outcomes)} lines in {time.monotonic() - start:.0f} s, {len(bad)} findings,"
        f" slowest {max(o.slowest for o in outcomes):.3f} s of the processor; {seen}"
    )
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
