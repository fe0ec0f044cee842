"""What an edit takes from callers, and from other modes of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from repair.guards import told_by

from diagnose.model import Lang
from diagnose.repair.model import Guard
from diagnose.repair.validation import contracts, redundant_moves
from diagnose.repair.validation.contracts import (
    alike,
    by_global_rank,
    kept_out,
    made_to_fit,
    never_found,
)

_STORE = """\
class Store:
    def take(self, rows, ids):
        return self.rows[ids] + rows[ids]
"""
_HISTOGRAM = """\
class Histogram:
    def add(self, rows):
        found = np.asarray(rows)
        self.counts += np.histogram(found)[0]
"""
_BIASES = """\
class Biases:
    def __call__(self, scores):
        for bias in self.biases:
            scores = scores + bias
        return scores
"""
_MASK = """\
class Mask:
    def __init__(self, size, device="cpu"):
        self.upper = torch.ones(size, size, device=device).triu(1)


def attend(scores):
    mask = Mask(len(scores))
    return scores.masked_fill(mask.upper, 0)
"""
_LOSS = """\
def loss(pairs, labels=None):
    if labels is not None:
        total(labels)
    return model(pairs)
"""
_GONE = """\
class Loop:
    def fetch(self):
        self.low.to(self.device)

    def run(self, x):
        return self.low(x)
"""


@pytest.mark.parametrize(
    ("program", "old", "new", "guard"),
    [
        (_STORE, "self.rows[ids]", "self.rows.to(ids.device)[ids]", "indexed"),
        (_STORE, "self.rows[ids]", "self.rows[ids.to(self.rows.device)]", None),
        (_STORE, "+ rows[ids]", "+ rows.to(ids.device)[ids]", None),
        (_HISTOGRAM, "asarray(rows)", "asarray(rows.detach().cpu())", "strayed"),
        (_HISTOGRAM, "asarray(rows)", "asarray([v.detach().cpu() for v in rows])", "strayed"),
        (
            _HISTOGRAM.replace("np.histogram", "torch.histc"),
            "asarray(rows)",
            "asarray(rows.cpu())",
            None,
        ),
        (_BIASES, "+ bias", "+ bias.to(scores.device)", "copied"),
        (_BIASES, "+ bias", "+ bias.cpu()", "copied"),
        (_BIASES.replace("__call__", "once"), "+ bias", "+ bias.to(scores.device)", None),
        (_MASK, "(mask.upper", "(mask.upper.to(scores.device)", "deaf"),
        (_MASK, "Mask(len(scores))", "Mask(len(scores), scores.device)", None),
        (
            _MASK.replace("len(scores))", "len(scores), device=None)"),
            "(mask.upper",
            "(mask.upper.to(scores.device)",
            None,
        ),
        (_LOSS, "model(pairs)", "model(pairs.to(labels.device))", "absent"),
        (_LOSS, "total(labels)", "total(pairs.to(labels.device))", None),
    ],
)
def test_moves_leave_callers_what_they_had(
    program: str, old: str, new: str, guard: str | None
) -> None:
    assert program.count(old) == 1
    found = [one.id for one in told_by(contracts, program, program.replace(old, new))]
    assert found == ([guard] if guard else [])


@pytest.mark.parametrize(
    ("reader", "before", "after"),
    [
        (alike, "net = Many(net) if many else net\n", "net = net if many else net\n"),
        (
            kept_out,
            "self.teacher = [net]  # not in the state_dict\n",
            "self.teacher = nn.ModuleList([net])  # not in the state_dict\n",
        ),
        (
            alike,
            "def wrap(net):\n    if count() > 1:\n        return Many(net)\n    return net\n",
            "def wrap(net):\n    if count() > 1:\n        return net\n    return net\n",
        ),
        (
            alike,
            "if many:\n    net = Many(net)\nelse:\n    net = net.to(gpu)\n",
            "if many:\n    net = net.to(gpu)\nelse:\n    net = net.to(gpu)\n",
        ),
    ],
)
def test_modes_and_what_is_kept_out_stay(
    reader: Callable[[str, str, Lang], Iterator[Guard]], before: str, after: str
) -> None:
    assert [one.id for one in told_by(reader, before, after)] == ["gives-up"]
    assert not list(told_by(reader, after, after)), "nothing is edited"
    assert not list(told_by(reader, before.replace("#", "##  "), before)), "nothing is registered"


@pytest.mark.parametrize(
    ("before", "after", "holds"),
    [
        ("z = randn(3, device=x.device)", "z = randn(3, device=rng.device).to(x.device)", False),
        ("z = randn(3, device=x.device)", "z = randn(3, device=rng.device)", True),
        ('z = randn(3, device="cpu")', "z = randn(3, device=gpu).to(x.device)", True),
        ("z = randn(3)", "z = randn(3, device=gpu).to(x.device)", True),
        ("z = randn(3, device=gpu)", "z = randn(3, device=gpu).to(x.device)", True),
    ],
)
def test_what_is_made_on_its_device_is_not_made_elsewhere_to_fit(
    before: str, after: str, holds: bool
) -> None:
    assert [one.holds for one in told_by(made_to_fit, before, after)] == [False] * (not holds)


@pytest.mark.parametrize(
    ("known", "number", "holds"),
    [("LOCAL_RANK", "rank", False), ("LOCAL_RANK", "local", True), ("OTHER", "rank", True)],
)
def test_a_process_is_bound_by_its_rank_on_its_own_machine(
    known: str, number: str, holds: bool
) -> None:
    before = f'rank = int(env["RANK"])\nlocal = int(env["{known}"])\nnet = net.cuda(local)\n'
    after = before.replace("net = ", f"torch.cuda.set_device({number})\nnet = ")
    found = [(one.id, one.holds) for one in told_by(by_global_rank, before, after)]
    assert found == [("counted", False)] * (not holds)


def test_a_move_that_the_program_makes_elsewhere_is_added_here_all_the_same() -> None:
    after = _GONE.replace("self.low(x)", "self.low.to(self.device)(x)")
    assert "put-away" in [one.id for one in told_by(redundant_moves, _GONE, after)]


def test_a_table_is_asked_for_the_key_under_which_it_keeps() -> None:
    before = "def f(x):\n    if n not in T:\n        T[n] = make(n)\n    return T[n]\n"
    half = before.replace("n not", "(n, x.device) not")
    assert [one.id for one in told_by(never_found, before, half)] == ["cached"]
    other_half = before.replace("T[n]", "T[n, x.device]")
    assert [one.id for one in told_by(never_found, before, other_half)] == ["cached"]
    whole = half.replace("T[n]", "T[n, x.device]")
    assert not list(told_by(never_found, before, whole))
    assert not list(told_by(never_found, before, before.replace("make(n)", "make(n).to(d)")))
    other = before.replace("if n not in T", "if n not in known")
    assert not list(told_by(never_found, before, other)), "nothing is kept in that one"
