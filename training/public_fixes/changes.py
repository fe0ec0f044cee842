"""Tells from a file before and after a change which statements were changed in placement alone."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from elsewhere import between, for_types, moves, orders
from fix_kinds import Edit, edit_of, given
from origins import MODULES, in_optimizer_state
from placing import called, direction, is_fixed, key, moved, placed, placings, told
from program_tree import Stated, Tree, arguments

#: What `.to(device)` as a statement of its own can be.
_IN_PLACE = frozenset({"move-module", "move-loss", "move-metric"})
#: A tensor that is moved as a statement of its own stays where it is: it mends nothing.
_TENSORS = re.compile(
    r"(?:^|_)(?:ids|mask|tensor|loss|logits|labels?|targets?|weights?|bias|indices|outputs?)$"
)
_BATCH = re.compile(r"batch|input|sample|data|target|label|feature|image|example", re.IGNORECASE)


class Read(NamedTuple):
    """What a change of a file holds: edits, and how many changed statements are something else."""

    edits: tuple[Edit, ...]
    others: int


def read(before: str, after: str, hunks: Sequence[Sequence[int]]) -> Read:
    """The edits of placement in a change of a file.

    Args:
        before: its text before.
        after: and after.
        hunks: first line and number of lines before, first line and number of lines after, of each.

    Raises:
        SyntaxError, ValueError, RecursionError: one of both is no Python 3.
    """
    trees = Tree(ast.parse(before)), Tree(ast.parse(after))
    pairs, gone, came = _paired(*trees, hunks)
    left = {one for was, now in pairs for one in moves(was.node) - moves(now.node)}
    left |= {one for was in gone for one in moves(was.node)}
    lines = before.split("\n")
    taken = [
        line for first, removed, *_ in hunks for line in lines[first - 1 : first - 1 + removed]
    ]
    bound = any("set_device" in line for line in taken)
    edits = [edit for pair in pairs for edit in _changed(*pair, *trees, left)]
    others = 0
    for was in list(gone):  # what only moved to another line
        now = next((one for one in came if one.full == was.full and one.owner == was.owner), None)
        if now is None:
            continue
        gone.remove(was)
        came.remove(now)
        kind = _reordered(now.node)
        if kind and not any(orders(kind, now, one) for one in between(trees[1], was, now)):
            continue
        if kind:
            edits.append(edit_of(was, now, kind, "", "at-build", "statement", "variable"))
        elif not _harmless(now.node):
            others += 1
    held = {ast.dump(placed(one[1])) for was in gone for one in placings(was.node)}
    known = trees[0].functions() | {""}
    for now in came:
        if any(ast.dump(placed(one[1])) in held for one in placings(now.node)):
            others += not _placing(now.node)  # written in another way
        elif moves(now.node) & left or (bound and "set_device" in now.full):
            others += not _placing(now.node)  # stood elsewhere
        elif now.owner not in known or for_types(trees[1], now.node):
            others += not _harmless(now.node)  # part of something new, or for the type of elements
        elif found := _inserted(now, trees[1]):
            edits.append(found._replace(line=_above(now.node.lineno, hunks)))
        elif not _harmless(now.node):
            others += 1
    others += sum(not _harmless(was.node) and not _placing(was.node) for was in gone)
    return Read(tuple(dict.fromkeys(edits)), others)


def _paired(
    old: Tree, new: Tree, hunks: Sequence[Sequence[int]]
) -> tuple[list[tuple[Stated, Stated]], list[Stated], list[Stated]]:
    """The statements that differ in what places alone; those that are gone; those that came."""
    pairs, gone, came = list[tuple[Stated, Stated]](), list[Stated](), list[Stated]()
    for first, removed, start, added in hunks:
        befores, afters = old.within(first, removed), new.within(start, added)
        said = [one.bare for one in befores], [one.bare for one in afters]
        for tag, a, b, c, d in difflib.SequenceMatcher(None, *said, autojunk=False).get_opcodes():
            if tag == "equal":
                both = zip(befores[a:b], afters[c:d], strict=True)
                pairs += [(was, now) for was, now in both if was.full != now.full]
            else:
                gone += befores[a:b]
                came += afters[c:d]
    return pairs, gone, came


def _above(line: int, hunks: Sequence[Sequence[int]]) -> int:
    """The line before the change that stood above one that was put in."""
    above = (first for first, _, start, added in hunks if start <= line < start + added)
    return next(above, line)


def _changed(
    was: Stated, now: Stated, old: Tree, new: Tree, left: set[tuple[str, str]]
) -> Iterator[Edit]:
    """The edits of a statement that is the same but for what places.

    ``left`` is what was moved elsewhere before: to move it here instead mends nothing.
    """
    if moves(now.node) & left:
        return
    held, got = placings(was.node), placings(now.node)
    known, kept = {key(one) for one in held}, {key(one) for one in got}
    taken = [one for one in held if key(one) not in kept]
    fresh = [one for one in got if key(one) not in known]
    if any(one[0] == "cpu" and given(was, now, new, *one) is None for one in fresh):
        return  # done on the host, and brought back
    earlier = {one.partition(" ")[2] for _, one in left}  # what came of the call was moved there
    for placing in fresh:
        what, call, device = placing
        to = "" if device is None else ast.unparse(device)
        twin = next(
            (one for one in taken if ast.dump(placed(one[1])) == ast.dump(placed(call))), None
        )
        edit = given(was, now, new, what, call, device)
        if edit is None or (edit.expression == "call" and what == "device" and to in earlier):
            continue
        if twin is not None and is_fixed(twin):
            if edit.to in ("fixed", "host") or "meta" in ast.unparse(twin[2] or twin[1].func):
                continue  # one fixed device for another; what has no data yet is built on purpose
            if (
                isinstance(now.node, ast.Expr)
                and now.node.value is call
                and edit.kind != "move-input"
            ):
                edit = edit._replace(kind="move-module", place="at-build", expression="module")
            edit = edit._replace(cause="hardcoded-device")
        elif twin is not None and twin[0] in ("move", "cuda", "device", "map_location", "type_as"):
            continue  # one device for another: which was wrong, and why, cannot be read here
        yield edit


def _placing(node: ast.stmt) -> bool:
    """Whether a statement does nothing but place."""
    value = getattr(node, "value", None)
    if isinstance(node, ast.Expr | ast.Assign) and isinstance(value, ast.Call):
        return moved(value) is not None or _binds_process(value)
    if isinstance(node, ast.Assign):
        return bool(re.match(r"(?:self\.)?\w*device", ast.unparse(node.targets[0])))
    return False


def _harmless(node: ast.stmt) -> bool:
    """Imports, texts, the choice of a device and its place among the arguments."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return all(
            re.search(r"device|cuda|map_location", ast.unparse(t), re.IGNORECASE) for t in targets
        )
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return any("device" in a.arg for a in arguments(node))
    return False


def _reordered(node: ast.stmt) -> str:
    value = getattr(node, "value", None)
    if not isinstance(value, ast.Call):
        return ""
    if (
        moved(value) is not None
        and called(value) in ("to", "cuda")
        and MODULES.search(ast.unparse(moved(value) or value).split(".")[-1])
    ):
        return "reorder-move-after-build"
    if re.search(r"optim", ast.unparse(value.func), re.IGNORECASE) and re.search(
        r"parameters\(|params", ast.unparse(value)
    ):
        return "rebuild-optimizer"
    return ""


def _binds_process(call: ast.Call) -> bool:
    """Whether it is ``torch.cuda.set_device(...)``, or another accelerator's, of no constant."""
    if any(isinstance(one, ast.Constant) for one in call.args):
        return False
    return called(call) == "set_device" and ast.unparse(call.func).startswith(("torch.", "get_acc"))


def _inserted(now: Stated, tree: Tree) -> Edit | None:
    """The edit that a statement is which was put in."""
    node = now.node
    value = getattr(node, "value", None)
    if isinstance(node, ast.Expr) and isinstance(value, ast.Call) and _binds_process(value):
        return edit_of(
            now, now, "set-rank-device", "rank-device", "at-entry", "statement", "variable"
        )
    if not isinstance(node, ast.Assign | ast.Expr) or value is None:
        return None
    if isinstance(value, ast.Call) and moved(value) is not None and called(value) != "cpu":
        inner = moved(value)
        assert inner is not None
        text = ast.unparse(inner)
        if isinstance(node, ast.Assign):
            target = ast.unparse(node.targets[0])
            item = isinstance(inner, ast.Name) and isinstance(node.targets[0], ast.Subscript)
            if target != text and not item:
                return None
            if "optim" in now.owner.lower() or (
                "state[" in target and ("optim" in text or in_optimizer_state(tree, node))
            ):
                return edit_of(
                    now,
                    now,
                    "move-optimizer-state",
                    "optimizer-state",
                    "at-use",
                    "statement",
                    direction(called(value), told(value)),
                )
        edit = given(
            now,
            now,
            tree,
            "move" if called(value) == "to" else called(value),
            value,
            told(value),
        )
        if edit is None or isinstance(node, ast.Assign):
            return edit
        if not isinstance(inner, ast.Call) and _TENSORS.search(text):
            return None
        if isinstance(inner, ast.Call) or (
            edit.kind.startswith("move-") and edit.kind not in _IN_PLACE
        ):
            # a tensor is not moved in place: what is moved so is a module, or a batch of a library
            if _BATCH.search(text):
                return edit._replace(kind="move-input", cause="input-not-moved", place="at-entry")
            edit = edit._replace(kind="move-module", cause="module-not-moved", place="at-build")
            return None if isinstance(inner, ast.Call) else edit._replace(expression="module")
        return edit
    if (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple)
        and isinstance(value, ast.Tuple)
    ):
        calls = [one for one in value.elts if moved(one) is not None]
        if len(calls) == len(value.elts) and isinstance(calls[0], ast.Call):
            return given(
                now,
                now,
                tree,
                "move" if called(calls[0]) == "to" else called(calls[0]),
                calls[0],
                told(calls[0]),
            )
    if isinstance(node, ast.Assign) and isinstance(value, ast.DictComp | ast.ListComp):
        element = value.value if isinstance(value, ast.DictComp) else value.elt
        element = element.body if isinstance(element, ast.IfExp) else element
        if (
            isinstance(element, ast.Call)
            and moved(element) is not None
            and called(element) != "cpu"
            and _BATCH.search(ast.unparse(value.generators[0].iter))
        ):
            return edit_of(
                now,
                now,
                "move-input",
                "input-not-moved",
                "at-entry",
                "container",
                direction(called(element), told(element)),
            )
    return None
