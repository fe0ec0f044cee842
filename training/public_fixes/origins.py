"""Where a value comes from that is moved, and where the move stands."""

from __future__ import annotations

import ast
import re

from placing import FACTORIES, called, moved
from program_tree import Tree, arguments, keeps_attribute, loops, names_in, root_of

#: Names of modules. What only begins so is something else: `model_inputs`, `head_mask`.
MODULES = re.compile(
    r"(?:^|_)(?:model|net|network|module|encoder|decoder|generator|discriminator|critic|actor|policy|backbone"
    r"|unet|vae|transformer|agent|layer|head|classifier|embedder|net[gd]|teacher|student)s?"
    r"(?:_(?:ema|old|new|best|ddp|wrapped|target|main|copy|without_ddp|teacher|student|[a-z]))?\d*$"
    r"|^(?:[DG]|G_ema)$",
    re.IGNORECASE,
)
#: What builds a module, by its name; a class may have a name in capitals.
_BUILDS = re.compile(r"[A-Z]|(?:build|get|create|make|load|init)_")
_TENSORS_OF = re.compile(r"param|buffer|state_dict|grad|input|output", re.IGNORECASE)


def origin(tree: Tree, node: ast.AST, value: ast.expr) -> str:
    """Where a value comes from: ``factory``, ``load``, ``module``, ``plain-attribute``, ``batch``,
    ``parameter``, ``other``, or empty where that is not read."""
    if isinstance(value, ast.Call):
        return _made_by(value)
    root = root_of(value)
    if isinstance(value, ast.Attribute) and root == "self":
        return _attribute(tree, node, value)
    if not root:
        return "other"
    function = tree.function(node)
    line = tree.statement(node).lineno
    loop = next((one for one in loops(tree, node) if root in names_in(one.target)), None)
    bound = 0 if loop is None else loop.target.lineno  # what a loop binds hides what stood above
    found = ""
    scope = function or next((one for one in tree.up(node) if isinstance(one, ast.Module)), None)
    for one in (
        sorted((s for s in ast.walk(scope) if isinstance(s, ast.stmt)), key=lambda s: s.lineno)
        if scope
        else ()
    ):
        if one.lineno >= line:
            break
        if one.lineno < bound:
            continue
        if isinstance(one, ast.Assign) and any(
            root in names_in(t)
            for t in one.targets
            if not isinstance(t, ast.Subscript | ast.Attribute)
        ):
            made = _made_by(one.value) if isinstance(one.value, ast.Call) else "other"
            found = made if isinstance(value, ast.Name) or made != "module" else "other"
            if isinstance(one.value, ast.Call) and called(one.value) == "next":
                found = "batch"
    if found:
        return found
    if loop is not None:
        source = ast.unparse(loop.iter)
        if re.search(r"param|buffer|grad|weight", root):
            return "other"
        if re.search(r"load|dataset|\bdl\b|batch|iter", source, re.IGNORECASE):
            return "batch"
        if re.search(r"model|module|layer|\bnets?\b", source, re.IGNORECASE):
            return "other" if _TENSORS_OF.search(source) else "module"
        return "batch" if re.search(r"input|data|sample|encod|feature", source) else "other"
    if function is not None and root in {a.arg for a in arguments(function)}:
        if isinstance(value, ast.Attribute):
            return "module" if MODULES.search(value.attr) else "other"
        return "parameter" if not MODULES.search(root) else "module"
    return ""


def is_module(tree: Tree, call: ast.Call, inner: ast.expr, came: str) -> bool:
    """Whether what is moved is a module, told from where it comes from or from its name.

    A name tells it only where the move is the whole statement: an operand is a tensor, whatever its name.
    """
    statement = tree.statement(call)
    if came == "module" or getattr(statement, "value", None) is not call:
        return came == "module"
    if isinstance(inner, ast.Call):
        return (
            isinstance(statement, ast.Assign)
            and bool(_BUILDS.match(called(inner)))
            and bool(MODULES.search(ast.unparse(statement.targets[0]).split(".")[-1]))
        )
    return (
        came in ("", "other", "load")
        and isinstance(inner, ast.Name | ast.Attribute)
        and bool(MODULES.search(ast.unparse(inner).split(".")[-1]))
    )


def _made_by(call: ast.Call) -> str:
    name = called(call)
    if moved(call) is not None:
        return "other"
    if name in FACTORIES:
        return "factory"
    if name == "load" and ast.unparse(call.func).startswith(("torch.", "th.", "load")):
        return "load"
    if name in (
        "from_pretrained",
        "DataParallel",
        "DistributedDataParallel",
        "create_model",
        "build_model",
        "get_model",
    ):
        return "module"
    if name == "Variable" and call.args:
        return _made_by(call.args[0]) if isinstance(call.args[0], ast.Call) else "other"
    if name[:1].isupper() and not name.isupper():
        return (
            "module"
            if not re.search(r"Tensor|Batch|Data|Box|Parameter|Variable", name)
            else "other"
        )
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
        return (
            _made_by(call.func.value)
            if name
            in (
                "float",
                "long",
                "unsqueeze",
                "view",
                "expand",
                "repeat",
                "bool",
                "half",
                "eval",
                "train",
                "reshape",
            )
            else "other"
        )
    return "other"


def _attribute(tree: Tree, node: ast.AST, value: ast.Attribute) -> str:
    holder, text = tree.holder(node), ast.unparse(value)
    if holder is None:
        return ""
    for one in ast.walk(holder):
        if isinstance(one, ast.Assign) and any(ast.unparse(t) == text for t in one.targets):
            made = _made_by(one.value) if isinstance(one.value, ast.Call) else "other"
            if made == "factory":
                return "plain-attribute"
            if made in ("module", "load"):
                return made
        if isinstance(one, ast.Call) and called(one) == "register_buffer":
            continue
    return ""


def kept(tree: Tree, node: ast.AST) -> bool:
    """Whether it is made into an attribute of ``self``."""
    return keeps_attribute(tree.statement(node))


def in_optimizer_state(tree: Tree, node: ast.AST) -> bool:
    """Whether a loop over an optimizer holds a node."""
    return any(
        isinstance(one, ast.For) and "optim" in ast.unparse(one.iter) for one in tree.up(node)
    )


def place_of(tree: Tree, call: ast.Call, inner: ast.expr) -> str:
    """Where a move stands, told from the statement that holds it."""
    statement, text = tree.statement(call), ast.unparse(inner)
    above = tree.parents.get(call)
    while isinstance(above, ast.Starred | ast.keyword | ast.Tuple | ast.List):
        above = tree.parents.get(above)
    if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        own = {
            ast.unparse(one)
            for target in targets
            for one in (target.elts if isinstance(target, ast.Tuple) else [target])
        }
        whole = statement.value is call or isinstance(above, ast.Assign)
        if text in own:
            return (
                "at-entry"
                if _entering(tree, call, root_of(inner))
                else "at-definition"
                if _just_made(tree, statement, text)
                else "at-use"
            )
        if whole and (isinstance(inner, ast.Call) or not root_of(inner)):
            return "at-definition"
        if whole and _entering(tree, call, root_of(inner)):
            return "at-entry"
    if isinstance(above, ast.Call) and call is not above.func:
        torch = ast.unparse(above.func).split(".")[0] in ("torch", "F", "nn", "np")
        method = isinstance(above.func, ast.Attribute) and root_of(above.func) not in ("self", "")
        return (
            "at-use"
            if torch or (method and not MODULES.search(ast.unparse(above.func)))
            else "at-caller"
        )
    return "at-use"


def _entering(tree: Tree, node: ast.AST, name: str) -> bool:
    """Whether a name is an argument of the function, or what a loop gives."""
    function = tree.function(node)
    if function is not None and name in {a.arg for a in arguments(function)}:
        return name != "self"
    return any(
        isinstance(one, ast.For | ast.comprehension) and name in names_in(one.target)
        for one in loops(tree, node)
    )


def _just_made(tree: Tree, statement: ast.stmt, text: str) -> bool:
    above = tree.parents.get(statement)
    for body in (getattr(above, "body", []), getattr(above, "orelse", [])):
        if isinstance(body, list) and statement in body:
            for one in body[max(0, body.index(statement) - 2) : body.index(statement)]:
                if isinstance(one, ast.Assign) and any(
                    ast.unparse(t) == text or text in names_in(t) for t in one.targets
                ):
                    return True
    return False


def in_index(tree: Tree, node: ast.AST) -> bool:
    """Whether a node is an index of something."""
    above, below = tree.parents.get(node), node
    while isinstance(above, ast.Tuple | ast.UnaryOp | ast.Compare):
        above, below = tree.parents.get(above), above
    if isinstance(above, ast.Subscript):
        return above.slice is below
    return (
        isinstance(above, ast.Call)
        and called(above)
        in ("gather", "index_select", "scatter_", "scatter", "index_add_", "index_copy_")
        and below in above.args[1:2]
    )


def expression(node: ast.AST) -> str:
    """What kind of expression it is."""
    match node:
        case ast.Name():
            return "name"
        case ast.Attribute():
            return "attribute"
        case ast.Subscript():
            return "index"
        case ast.Call():
            return "call"
        case _:
            return "container" if isinstance(node, ast.List | ast.Tuple | ast.Dict) else "operation"
