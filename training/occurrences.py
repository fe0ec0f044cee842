"""Where the operands of a package's lines come from, by how its own source defines them.

Every operand of a function (a side of an operation, an argument, an index, what is called) whose name the
same file defines is one example: the features of the expression (`diagnose.naming.features`) and its
origin. Nothing is run, and what the file does not define gives no example.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from diagnose.naming.features import features, uses
from diagnose.naming.origins import ORIGINS

_FACTORIES = {
    "zeros",
    "ones",
    "full",
    "empty",
    "arange",
    "range",
    "linspace",
    "logspace",
    "eye",
    "rand",
    "randn",
    "randint",
    "randperm",
    "normal",
    "tensor",
    "as_tensor",
    "from_numpy",
    "FloatTensor",
    "LongTensor",
    "Tensor",
    "IntTensor",
    "BoolTensor",
    "tril_indices",
    "triu_indices",
    "hann_window",
    "hamming_window",
    "meshgrid",
    "bartlett_window",
}
_INDICES = {
    "argmax",
    "argmin",
    "topk",
    "sort",
    "argsort",
    "nonzero",
    "multinomial",
    "searchsorted",
    "bucketize",
    "unique",
    "kthvalue",
    "msort",
}
_LOSS = re.compile(r"Loss|Criterion|Objective|CrossEntropy|^NLL|^BCE|^MSE|^L1|KLDiv")
_METRIC = re.compile(
    r"Metric|Accuracy|^F1|Precision|Recall|AUROC|AveragePrecision|Perplexity|^SSIM$|^PSNR"
)
_MODULE = re.compile(
    r"Layer|Block|Model|Net|Encoder|Decoder|Attention|Embed|Head|Conv|Linear|Norm|MLP|Module|LSTM|GRU|"
    r"RNN|Pool|Dropout|ReLU|GELU|Transformer|Backbone|Projection|Unet|UNet|VAE|CLIP|Bert|GPT|Cell|Stem|"
    r"ResNet|Discriminator|Generator$|FeedForward|Sequential|Extractor|Upsample|Downsample"
)
_OPTIMIZER = re.compile(r"Adam|SGD|Optimizer|RMSprop|Adagrad|LBFGS|Lion|Adafactor")
_LOADER = re.compile(r"(?i)loader|data_?iter|batches|(train|val|test)_iter|dataset$|dl$")
_BATCH = re.compile(
    r"(?i)^(batch|batch_data|data_batch|samples?|minibatch|mini_batch|inputs_batch)$"
)
_NUMBERS = {
    "len",
    "int",
    "float",
    "round",
    "min",
    "max",
    "size",
    "item",
    "dim",
    "numel",
    "bool",
    "str",
    "sum",
}
_SCALARS = {"shape", "ndim", "size", "num", "dim", "dims"}
_STEPS = {
    "training_step",
    "validation_step",
    "test_step",
    "train_step",
    "eval_step",
    "compute_loss",
}


class Example(NamedTuple):
    """One operand: its features, the number of its origin in `ORIGINS`, and its text."""

    features: list[str]
    origin: int
    text: str


def of_file(path: Path) -> Iterator[Example]:
    """The examples of a file; none of one that does not parse or never names torch."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if "torch" not in text or len(text) > 400_000:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from _of_tree(tree)


def _of_tree(tree: ast.Module) -> Iterator[Example]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            own = _attributes(node)
            for function in node.body:
                if isinstance(function, ast.FunctionDef):
                    yield from _of_function(function, own)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield from _of_function(node, {})


def _attributes(node: ast.ClassDef) -> dict[str, str]:
    """The origin of each attribute of a class that its methods define."""
    found: dict[str, str] = {}
    methods = [f for f in node.body if isinstance(f, ast.FunctionDef)]
    for method in methods:
        given = _given(method)
        for part in ast.walk(method):
            match part:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="self"), attr=how),
                    args=[ast.Constant(value=str(name)), *_],
                ) if how in {"register_buffer", "register_parameter"}:
                    found[name] = "buffer" if how == "register_buffer" else "parameter"
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        _assign(found, target, value, method.name, given)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    _assign(found, target, value, method.name, given)
    for method in methods:  # what is a method is none
        found.pop(method.name, None)
    return found


def _assign(
    found: dict[str, str], target: ast.expr, value: ast.expr, method: str, given: set[str]
) -> None:
    match target:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            origin = _of_value(value, {}, given, {})
            outside = method not in {
                "__init__",
                "__post_init__",
                "setup",
                "build",
                "reset_parameters",
            }
            if outside and origin in {"made", "activation", "given", "batch", "mask"}:
                origin = "state"
            elif origin in {"made"}:
                origin = "attribute"
            elif origin == "given" and isinstance(value, ast.Name):
                origin = found.get(name)
            if origin is not None and found.get(name) not in {
                "buffer",
                "parameter",
                "module",
                "listed",
            }:
                found[name] = origin


def _given(function: ast.FunctionDef) -> set[str]:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return {a.arg for a in every} - {"self", "cls"}


def _of_function(function: ast.FunctionDef, own: dict[str, str]) -> Iterator[Example]:
    given = _given(function)
    numbers = _numbers(function)
    local: dict[str, str] = {}
    for statement in _statements(function.body):
        used = uses(statement)
        for node in _operands(statement, used):
            origin = _origin(node, local, given, own)
            root = _root(node)
            if origin == "given" and root in numbers:
                origin = "scalar"
            if origin in ORIGINS:
                found = features(node, function.name, used[id(node)])
                yield Example(found, ORIGINS.index(origin), ast.unparse(node))
        _define(statement, local, given, own, function.name)


def _numbers(function: ast.FunctionDef) -> set[str]:
    """The parameters that are numbers, texts or flags by their default or annotation."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(positional[::-1], arguments.defaults[::-1], strict=False))
    pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d]
    found = {
        a.arg
        for a, default in pairs
        if isinstance(default, ast.Constant) and default.value is not None
    }
    for a in [*positional, *arguments.kwonlyargs]:
        if isinstance(a.annotation, ast.Name) and a.annotation.id in {
            "int",
            "float",
            "bool",
            "str",
        }:
            found.add(a.arg)
    return found


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements in their order; of a compound one its head, then its body."""
    for statement in body:
        yield statement
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, None)
            if inner and not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                yield from _statements(inner)
        for handler in getattr(statement, "handlers", ()):
            yield from _statements(handler.body)


def _head(statement: ast.stmt) -> list[ast.AST]:
    match statement:
        case ast.For(iter=iterated):
            return [iterated]
        case ast.While(test=test) | ast.If(test=test):
            return [test]
        case ast.With(items=items):
            return [item.context_expr for item in items]
        case ast.FunctionDef() | ast.ClassDef() | ast.Try():
            return []
    return [statement]


def _operands(statement: ast.stmt, used: dict[int, object]) -> Iterator[ast.expr]:
    for part in _head(statement):
        for node in ast.walk(part):
            if id(node) in used and isinstance(
                node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
            ):
                if isinstance(getattr(node, "ctx", None), ast.Store):
                    continue
                yield node


def _root(node: ast.expr) -> str | None:
    while True:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=ast.Name(id="self")):
                return None
            case ast.Attribute(value=value) | ast.Subscript(value=value):
                node = value
            case ast.Call(func=ast.Attribute(value=value)):
                node = value
            case _:
                return None


def _origin(
    node: ast.expr, local: dict[str, str], given: set[str], own: dict[str, str]
) -> str | None:
    """Where an operand comes from; None for what the file does not tell."""
    if isinstance(node, ast.Attribute) and node.attr in _SCALARS:
        return None
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Attribute) or node.func.attr in _NUMBERS:
            return None
        if isinstance(node.func.value, ast.Name) and node.func.value.id in {
            "self",
            "torch",
            "F",
            "np",
            "nn",
            "math",
        }:
            return None
        if node.func.attr in {"to", "cuda", "cpu"}:
            return None
        return _origin(node.func.value, local, given, own)
    if isinstance(node, ast.Subscript):
        inner = _origin(node.value, local, given, own)
        return None if inner in {"scalar", "host"} else inner
    if isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return own.get(node.attr)
        if isinstance(node.value, ast.Name) and local.get(node.value.id) == "batch":
            return "batch"
        return None
    if isinstance(node, ast.Name):
        return local.get(node.id) or ("given" if node.id in given else None)
    return None


def _define(
    statement: ast.stmt,
    local: dict[str, str],
    given: set[str],
    own: dict[str, str],
    function: str,
) -> None:
    def put(target: ast.expr, origin: str | None) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                put(element.value if isinstance(element, ast.Starred) else element, origin)
        elif isinstance(target, ast.Name):
            if origin is None:
                local.pop(target.id, None)
                local[target.id] = ""
            else:
                local[target.id] = origin

    if function in _STEPS:
        for name in given:
            if _BATCH.match(name):
                local.setdefault(name, "batch")
    match statement:
        case ast.Assign(targets=targets, value=value):
            if isinstance(value, ast.Tuple):
                for target in targets:
                    if isinstance(target, ast.Tuple) and len(target.elts) == len(value.elts):
                        for one, its in zip(target.elts, value.elts, strict=True):
                            put(one, _of_value(its, local, given, own))
                        return
            origin = _of_value(value, local, given, own)
            for target in targets:
                put(target, origin)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            put(target, _of_value(value, local, given, own))
        case ast.For(target=target, iter=iterated):
            text = iterated
            while isinstance(text, ast.Call) and ast.unparse(text.func) in {
                "enumerate",
                "tqdm",
                "iter",
            }:
                if not text.args:
                    break
                text = text.args[0]
            name = ast.unparse(text).split("(")[0]
            if _LOADER.search(name):
                put(target, "batch")
            elif isinstance(text, ast.Attribute) and own.get(text.attr) in {"module", "listed"}:
                put(target, own[text.attr])
            else:
                put(target, None)


def _of_value(
    value: ast.expr, local: dict[str, str], given: set[str], own: dict[str, str]
) -> str | None:
    """The origin of what an expression gives."""
    match value:
        case ast.Constant(value=None):
            return None
        case ast.Constant():
            return "scalar"
        case ast.Name() | ast.Attribute() | ast.Subscript():
            if isinstance(value, ast.Attribute) and value.attr in _SCALARS:
                return "scalar"
            return _origin(value, local, given, own)
        case ast.Compare():
            return "mask" if not _is_flag(value) else None
        case ast.UnaryOp(op=ast.Invert(), operand=inner):
            return _of_value(inner, local, given, own) or "mask"
        case ast.UnaryOp(operand=inner):
            return _of_value(inner, local, given, own)
        case ast.BinOp(left=left, right=right):
            sides = [_of_value(s, local, given, own) for s in (left, right)]
            for origin in (
                "activation",
                "state",
                "attribute",
                "buffer",
                "parameter",
                "batch",
                "given",
                "made",
                "mask",
                "index",
            ):
                if origin in sides:
                    return {
                        "parameter": "activation",
                        "buffer": "activation",
                        "attribute": "activation",
                    }.get(origin, origin)
            return "scalar" if all(s == "scalar" for s in sides) else None
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            if elements and all(
                _class_of(e) and _MODULE.search(_class_of(e) or "") for e in elements
            ):
                return "listed"
            return None
        case ast.ListComp(elt=element):
            return (
                "listed"
                if _class_of(element) and _MODULE.search(_class_of(element) or "")
                else None
            )
        case ast.Dict(values=values):
            if values and all(
                v is not None and _class_of(v) and _MODULE.search(_class_of(v) or "")
                for v in values
            ):
                return "listed"
            return None
        case ast.Call():
            return _of_call(value, local, given, own)
    return None


def _is_flag(value: ast.Compare) -> bool:
    """A comparison whose answer is a truth value and no mask."""
    if any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in value.ops):
        return True
    sides = [value.left, *value.comparators]
    return any(
        (isinstance(s, ast.Constant) and isinstance(s.value, str))
        or (isinstance(s, ast.Call) and ast.unparse(s.func) in {"len", "type"})
        or ".shape" in ast.unparse(s)
        or ".size(" in ast.unparse(s)
        for s in sides
    )


def _class_of(value: ast.expr) -> str | None:
    if isinstance(value, ast.Call):
        name = ast.unparse(value.func).rpartition(".")[2]
        if name[:1].isupper():
            return name
    return None


def _of_call(
    call: ast.Call, local: dict[str, str], given: set[str], own: dict[str, str]
) -> str | None:
    dotted = ast.unparse(call.func)
    package, _, name = dotted.rpartition(".")
    if package in {"torch", "th"} or package.startswith("torch.random"):
        if name in _FACTORIES:
            return "made"
        if name in _INDICES:
            return "index"
        if name.endswith("_like"):
            return "made"
        if name == "load":
            return "loaded"
        if name in {"where"}:
            return "index" if len(call.args) == 1 else None
        if name in {
            "eq",
            "ne",
            "lt",
            "gt",
            "le",
            "ge",
            "isnan",
            "logical_and",
            "logical_or",
            "logical_not",
            "isin",
        }:
            return "mask"
        inner = [_of_value(a, local, given, own) for a in call.args[:2]]
        first = call.args[0] if call.args else None
        if isinstance(first, (ast.List, ast.Tuple)):
            inner = [_of_value(e, local, given, own) for e in first.elts]
        for origin in ("activation", "batch", "given", "made", "index", "mask"):
            if origin in inner:
                return origin
        return None
    if package in {"np", "numpy"} or package.startswith("np."):
        return "host"
    if name in {"Parameter"}:
        return "parameter"
    if dotted in _NUMBERS:
        return "scalar"
    if name == "next" and not package:
        return "batch"
    made = _class_of(call)
    if made is not None:
        if _OPTIMIZER.search(made):
            return "optimizer"
        if _LOSS.search(made):
            return "criterion"
        if _METRIC.search(made):
            return "metric"
        if package in {"nn", "torch.nn"} or _MODULE.search(made):
            return "module"
        return None
    if isinstance(call.func, ast.Attribute):
        if name in {"to", "cuda", "to_device", "npu", "xpu"}:
            return _of_value(call.func.value, local, given, own)
        if name in {"cpu", "numpy", "tolist"}:
            return "host" if name != "cpu" else None
        if name in {"from_pretrained"}:
            return "module" if _MODULE.search(package) else None
        if name.startswith("new_"):
            return "made"
        if name in _NUMBERS:
            return "scalar" if name != "sum" else _of_value(call.func.value, local, given, own)
        if name in _INDICES:
            return "index"
        if name in {"eq", "ne", "lt", "gt", "le", "ge", "bool"}:
            return "mask"
        if package == "self":
            return "activation" if own.get(name) in {"module", "listed"} else None
        if name == "items":
            return None
        return _of_value(call.func.value, local, given, own)
    if isinstance(call.func, ast.Name):
        if local.get(name) in {"module", "listed"} or name in {"model", "net"}:
            return "activation"
        return None
    if isinstance(call.func, ast.Subscript) and _of_value(call.func, local, given, own) in {
        "module",
        "listed",
    }:
        return "activation"
    return None
