"""What places a value in Python that uses torch, and the same code without it."""

from __future__ import annotations

import ast
import copy
import re

FACTORIES = frozenset(
    [
        "zeros",
        "ones",
        "full",
        "empty",
        "arange",
        "linspace",
        "logspace",
        "eye",
        "rand",
        "randn",
        "randint",
        "randperm",
        "tensor",
        "range",
        "normal",
        "from_numpy",
        "as_tensor",
        "asarray",
        "Tensor",
        "FloatTensor",
        "LongTensor",
        "IntTensor",
        "BoolTensor",
        "ByteTensor",
        "DoubleTensor",
        "HalfTensor",
        "zeros_like",
        "ones_like",
        "full_like",
        "empty_like",
        "rand_like",
        "randn_like",
        "tril_indices",
        "triu_indices",
        "scalar_tensor",
        "sparse_coo_tensor",
        "one_hot",
        "hann_window",
        "hamming_window",
        "bernoulli",
        "multinomial",
    ]
)
NEW = {f"new_{name}": name for name in ("zeros", "ones", "full", "empty", "tensor")}
MOVES = frozenset({"to", "cuda", "cpu", "type_as", "npu", "xpu", "hpu"})
DEVICES = re.compile(r"device|cuda|cpu|gpu|\bmps\b|rank|xpu|npu|hpu", re.IGNORECASE)
_DTYPES = re.compile(
    r"dtype|float|half|double|\blong\b|\bint\d*\b|bool|uint8|int64|int32", re.IGNORECASE
)


BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


def head(node: ast.stmt) -> ast.AST:
    """A statement without the statements that it holds."""
    if not hasattr(node, "body"):
        return node
    held = copy.copy(node)
    for field in (*BODIES, "decorator_list"):
        if hasattr(held, field):
            setattr(held, field, [])
    return held


def bare(node: ast.AST) -> ast.AST:
    """A copy without moves, devices of factories and loads, registrations."""
    return _Bare().visit(copy.deepcopy(node))


class _Bare(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = called(node)
        if (value := moved(node)) is not None:
            dtype = [
                arg for arg in (*node.args, *(k.value for k in node.keywords)) if is_dtype(arg)
            ]
            if name == "to" and dtype:
                return ast.Call(ast.Attribute(value, "to", ast.Load()), dtype[:1], [])
            return value
        if name == "detach" and isinstance(node.func, ast.Attribute) and not node.args:
            return node.func.value
        if (
            name == "type"
            and node.args
            and "cuda" in ast.unparse(node.args[0])
            and isinstance(node.func, ast.Attribute)
        ):
            return node.func.value
        if name == "to" and len(node.args) == 1 and is_dtype(node.args[0]):
            node.keywords = []
        node.keywords = [
            k for k in node.keywords if k.arg not in ("device", "map_location", "pin_memory")
        ]
        if name == "load" and len(node.args) == 2 and DEVICES.search(ast.unparse(node.args[1])):
            node.args = node.args[:1]
        if name in NEW and isinstance(node.func, ast.Attribute):
            node.func = _torch(NEW[name])
            node.keywords = [k for k in node.keywords if k.arg != "dtype"]
        elif name in ("zeros_like", "ones_like") and len(node.args) == 1:
            node.func, node.args = _torch(name[:-5]), [_shape(node.args[0])]
            node.keywords = [k for k in node.keywords if k.arg != "dtype"]
        elif name in FACTORIES and isinstance(node.func, ast.Attribute):
            if isinstance(node.func.value, ast.Attribute) and node.func.value.attr == "cuda":
                node.func.value = node.func.value.value
            if name in ("zeros", "ones", "full", "empty"):
                node.keywords = [k for k in node.keywords if k.arg != "dtype"]
                if name in ("zeros", "ones") and len(node.args) == 1:
                    node.args = [_shape(node.args[0])]
        if name in ("ModuleList", "ParameterList", "ModuleDict", "ParameterDict"):
            return node.args[0] if node.args else ast.List([], ast.Load())
        if name in ("Parameter", "Buffer") and node.args:
            return node.args[0]
        return node

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        return node if node.keys else ast.List([], ast.Load())

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if isinstance(call, ast.Call) and called(call) == "register_buffer" and len(call.args) > 1:
            name = call.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                target = ast.Attribute(ast.Name("self", ast.Load()), name.value, ast.Store())
                return ast.Assign([target], self.visit(call.args[1]))
        self.generic_visit(node)
        return node


def _torch(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name("torch", ast.Load()), name, ast.Load())


def _shape(node: ast.AST) -> ast.expr:
    """The value whose shape is meant, of ``x.shape``, ``x.size()`` or ``x``."""
    if (
        isinstance(node, ast.Call)
        and called(node) == "size"
        and not node.args
        and isinstance(node.func, ast.Attribute)
    ):
        return node.func.value
    if isinstance(node, ast.Attribute) and node.attr == "shape":
        return node.value
    assert isinstance(node, ast.expr)
    return node


def called(node: ast.Call) -> str:
    """The last part of the name of what is called."""
    func = node.func
    return (
        func.attr
        if isinstance(func, ast.Attribute)
        else func.id
        if isinstance(func, ast.Name)
        else ""
    )


def is_dtype(node: ast.AST) -> bool:
    """Whether an expression reads as a type of elements."""
    text = ast.unparse(node.func if isinstance(node, ast.Call) else node)
    return bool(_DTYPES.search(text)) and not re.search(r"device", text)


def moved(node: ast.AST) -> ast.expr | None:
    """What a call moves to a device; None where it is no move."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr not in MOVES:
        return None
    if node.func.attr == "to":
        told = [arg for arg in node.args if not is_dtype(arg)]
        told += [k.value for k in node.keywords if k.arg == "device"]
        if not told or (
            isinstance(told[0], ast.Constant) and not DEVICES.search(str(told[0].value))
        ):
            return None
    return node.func.value


def told(call: ast.Call) -> ast.expr | None:
    """The device that a move is told; None where it is told none."""
    named = ("device",)
    if called(call) == "cuda":  # the keyword had other names in early releases
        named = tuple(k.arg for k in call.keywords if k.arg not in ("non_blocking", "async"))
    found = [a for a in call.args if not is_dtype(a)]
    found += [k.value for k in call.keywords if k.arg in named]
    return found[0] if found else None


def placings(node: ast.AST) -> list[tuple[str, ast.Call, ast.expr | None]]:
    """All that places in a statement: what (``move``, ``device``, ``map_location`` ...), the call,
    the device."""
    found = list[tuple[str, ast.Call, ast.expr | None]]()
    for one in ast.walk(head(node) if isinstance(node, ast.stmt) else node):
        if not isinstance(one, ast.Call):
            continue
        name = called(one)
        if moved(one) is not None:
            known = name if name in ("cuda", "cpu", "type_as") else "move"
            found.append((known, one, told(one)))
        for k in one.keywords:
            if k.arg in ("device", "map_location") and name not in MOVES:
                found.append((k.arg, one, k.value))
        if name == "load" and len(one.args) == 2 and DEVICES.search(ast.unparse(one.args[1])):
            found.append(("map_location", one, one.args[1]))
        if name in NEW or name.endswith("_like"):
            found.append(("like", one, None))
        if name in FACTORIES and ".cuda." in ast.unparse(one.func):
            found.append(("cuda-type", one, None))
        if name in ("register_buffer", "Buffer"):
            found.append(("buffer", one, None))
        if name in ("Parameter",):
            found.append(("parameter", one, None))
        if name in ("ModuleList", "ModuleDict", "ParameterList", "ParameterDict"):
            found.append(("container", one, None))
    return found


def key(placing: tuple[str, ast.Call, ast.expr | None]) -> str:
    """What tells a placing from others."""
    what, call, device = placing
    return f"{what} {ast.dump(placed(call))} {ast.unparse(device) if device is not None else ''}"


def placed(call: ast.Call) -> ast.AST:
    """What a call places, whatever else it does: a move may tell a type too, or follow one that does."""
    value = bare(moved(call) or call)
    while (
        moved(call) is not None
        and isinstance(value, ast.Call)
        and called(value) == "to"
        and isinstance(value.func, ast.Attribute)
        and all(is_dtype(one) for one in (*value.args, *(k.value for k in value.keywords)))
    ):
        value = value.func.value
    return value


def is_fixed(placing: tuple[str, ast.Call, ast.expr | None]) -> bool:
    """Whether it names a device that the code chooses."""
    what, _, device = placing
    if what in ("cuda-type",) or (what == "cuda" and device is None):
        return True
    return isinstance(device, ast.Constant) or (
        device is not None
        and bool(re.fullmatch(r"torch\.device\(['\"].*['\"]\)", ast.unparse(device)))
    )


def direction(what: str, device: ast.expr | None) -> str:
    """Whose device it is: ``neighbour``, ``variable``, ``fixed`` or ``host``."""
    if what == "cpu":
        return "host"
    if what in ("type_as", "like"):
        return "neighbour"
    if (what in ("cuda", "cuda-type") and device is None) or isinstance(device, ast.Constant):
        return "host" if isinstance(device, ast.Constant) and device.value == "cpu" else "fixed"
    if device is None:
        return "variable"
    text = ast.unparse(device)
    if re.fullmatch(r"torch\.device\(['\"].*['\"]\)", text):
        return "host" if "cpu" in text else "fixed"
    own = re.fullmatch(
        r"(?:self|cls|args|opt|cfg|config|options|hparams|params|accelerator|trainer|context|ctx|engine|flair|settings|devices|shared"
        r"|self\.(?:args|config|cfg|opt|hparams|accelerator|trainer|fabric))\.(?:\w*device|gpu\w*)",
        text,
    )
    if not own and re.search(r"\.device$|\.get_device\(\)$", text):
        return "neighbour"
    if (
        what == "move"
        and isinstance(device, ast.Name | ast.Attribute)
        and not re.search(rf"{DEVICES.pattern}|\bdev\b", text, re.IGNORECASE)
    ):
        return "neighbour"  # `.to(other)` takes the device of a tensor
    return "variable"
