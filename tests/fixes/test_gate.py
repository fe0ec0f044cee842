"""The gate on the first edit: what it must not print, and what it edits together."""

from __future__ import annotations

import ast

import pytest

from diagnose.casebase.store import load
from diagnose.fixes.destinations import hold
from diagnose.fixes.line_gate import Refused
from diagnose.model import Edit
from diagnose.pipeline import diagnose
from diagnose.placement.semantics import path_to
from diagnose.sources import Given, Sources

MET = (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
)
LINEAR = """  File "/v/site-packages/torch/nn/modules/linear.py", line 114, in forward
    return F.linear(input, self.weight, self.bias)
"""


def _first(text: str, number: int, message: str, inner: str = "", *, source: bool) -> Edit | None:
    trace = f'Traceback (most recent call last):\n  File "/home/u/job.py", line {number}, in run\n'
    trace += f"    {text.splitlines()[number - 1].strip()}\n{inner}{message}\n"
    sources = Sources([Given({"job.py": text})], read=None) if source else None
    causes = diagnose(trace, sources=sources).causes
    return next((fix.edit for fix in causes[0].fixes if fix.edit), None)


def _hold(text: str, before: str, after: str) -> None:
    """Holds the edit of an expression of a program."""
    tree = ast.parse(text)
    node = next(n for n in ast.walk(tree) if isinstance(n, ast.expr) and ast.unparse(n) == before)
    becomes = ast.parse(after, mode="eval").body
    hold(node, (becomes,), path_to(tree, node), load().knowledge.torch)


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        # a number, a text or a slice has no device, and moves nowhere
        ("def f(x, n):\n    i = slice(0, n)\n    return x[i]", "i", "i.to(x.device)"),
        ("def f(x):\n    for i in range(9):\n        g(x[i])", "x", "x.to(i.device)"),
        ("def f(x, scale=1.0):\n    return x * scale", "x", "x.to(scale.device)"),
        ("def f(x, m: 'int | None'):\n    return x * m", "x", "x.to(m.device)"),
        ("def f(x, m: Optional[float] = None):\n    return x * m", "m", "m.to(x.device)"),
        ("class D:\n    def __getitem__(self, i):\n        return self.x[i]", "i", "i.to(device)"),
        (
            "class M:\n    def __init__(self, eps: float):\n        self.eps = eps\n"
            "    def f(self, x):\n        return x + self.eps",
            "x",
            "x.to(self.eps.device)",
        ),
        # what is made of a tensor is where that is
        ("def f(x):\n    return x[x.long()]", "x.long()", "x.long().to(x.device)"),
        ("def f(x):\n    i = x.t()[0]\n    return x[i]", "i", "i.to(x.device)"),
        (
            "def f(self):\n    y = self.w.long()\n    i = y.view(-1)\n    return self.w[i]",
            "i",
            "i.to(self.w.device)",
        ),
    ],
)
def test_an_edit_that_moves_nothing_or_breaks_is_refused(
    text: str, before: str, after: str
) -> None:
    with pytest.raises(Refused):
        _hold(text, before, after)


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("def f(x, i=None):\n    return x[i]", "i", "i.to(x.device)"),
        ("def f(x, i: 'Tensor | int'):\n    return x[i]", "i", "i.to(x.device)"),
        ("def f(x, y):\n    i = y.t()[0]\n    return x[i]", "i", "i.to(x.device)"),
        ("def f(x):\n    i = x.cpu()\n    return x[i]", "i", "i.to(x.device)"),
        ("def f(x, n):\n    i = 0\n    i = g(n)\n    return x[i]", "i", "i.to(x.device)"),
    ],
)
def test_an_edit_that_may_move_a_tensor_passes(text: str, before: str, after: str) -> None:
    _hold(text, before, after)


@pytest.mark.parametrize("source", [True, False])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "def run(x):\n    return torch.cat([torch.zeros(1, 3), x, torch.ones(2, 3)])\n",
            "torch.cat([torch.zeros(1, 3, device=x.device), x, torch.ones(2, 3, device=x.device)])",
        ),
        (
            "def run(x):\n    return x * (torch.rand(3) + torch.ones(3))\n",
            "x * (torch.rand(3, device=x.device) + torch.ones(3, device=x.device))",
        ),
    ],
)
def test_what_is_made_beside_it_is_made_there_too(text: str, line: str, source: bool) -> None:
    edit = _first(f"import torch\n\n{text}", 4, f"{MET}cuda:0 and cpu!", source=source)
    assert edit is not None and edit.after.strip() == f"return {line}"


@pytest.mark.parametrize(
    ("call", "fixed"),
    [
        (
            "self.bert(batch['ids'], mask=batch['mask'])",
            "self.bert(batch['ids'].to({d}), mask=batch['mask'].to({d}))",
        ),
        ("self.bert(data.x, data.edges)", "self.bert(data.x.to({d}), data.edges.to({d}))"),
    ],
)
def test_parts_of_the_same_whole_move_together(call: str, fixed: str) -> None:
    from diagnose.fixes.line_gate import Site, replaced
    from diagnose.fixes.operands import alike
    from diagnose.parsing import parse
    from diagnose.scene import Scene

    trace = (
        f'Traceback (most recent call last):\n  File "/home/u/job.py", line 3, in run\n    {call}\n'
    )
    knowledge = load().knowledge
    scene = Scene(parse(f"{trace}{LINEAR}{MET}cuda:0 and cpu!\n", knowledge=knowledge), knowledge)
    assert scene.site is not None and scene.met is not None
    site = Site(scene.site, scene.met, scene)
    node = next(n for n in site.line.nodes if isinstance(n, ast.Call)).args[0]
    device = "next(self.bert.parameters()).device"
    first = replaced(site, node, f"{site.text(node)}.to({device})")
    edited = call
    for change in sorted([first, *alike(site, [first])], reverse=True, key=lambda one: one.start):
        edited = edited[: change.start] + change.text + edited[change.end :]
    assert edited == fixed.replace("{d}", device)


def test_of_a_model_a_method_may_be_called() -> None:
    text = "class A:\n    def f(self, data):\n        return self._model.compute_actor(data)\n"
    message = f"{MET}cuda:0 and cpu! (when checking argument for argument mat1 in method wrapper_CUDA_addmm)"
    edit = _first(text, 3, message, LINEAR, source=False)
    assert edit is not None
    assert "data.to(next(self._model.parameters()).device)" in edit.after


INDICES = "RuntimeError: indices should be either on cpu or on the same device as the indexed tensor (cpu)"


def test_what_met_an_index_on_the_gpu_is_made_where_the_function_is_given_its_tensors() -> None:
    text = """import torch

def keep(scores, chosen):
    labels = torch.arange(scores.size(1) - 1)
    return labels[chosen]
"""
    edit = _first(text, 5, INDICES, source=True)
    assert edit is not None
    assert edit.after.strip() == "labels = torch.arange(scores.size(1) - 1, device=scores.device)"


def test_nothing_that_may_be_on_the_cpu_is_moved_there() -> None:
    text = "def keep(table, chosen):\n    rows = pick(chosen)\n    return table[rows]\n"
    edit = _first(text, 3, INDICES, source=True)
    assert edit is not None
    assert '"cpu"' not in edit.after


@pytest.mark.parametrize("loader", ["torch.hub.load_state_dict_from_url", "model_zoo.load_url"])
def test_every_loader_of_checkpoints_may_be_told_where_to_load_to(loader: str) -> None:
    text = f"def fetch(url):\n    return {loader}(url)\n"
    message = (
        "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is"
        " False. If you are running on a CPU-only machine, please use torch.load with map_location='cpu'."
    )
    edit = _first(text, 2, message, source=False)
    assert edit is not None and edit.after == f'return {loader}(url, map_location="cpu")'
