"""What an edit takes from callers, and from other modes of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from diagnose.model import Lang
from diagnose.repairing.guarding.contracts import alike, contracts, kept_out
from diagnose.repairing.guarding.fitting import fitting
from diagnose.repairing.model import Guard

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
    found = [one.id for one in contracts(program, program.replace(old, new), "en")]
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
    ],
)
def test_modes_and_what_is_kept_out_stay(
    reader: Callable[[str, str, Lang], Iterator[Guard]], before: str, after: str
) -> None:
    assert [one.id for one in reader(before, after, "en")] == ["gives-up"]
    assert not list(reader(after, after, "en")), "nothing is edited"
    assert not list(reader(before.replace("#", "##  "), before, "en")), "nothing is registered"


def test_a_move_that_the_program_makes_elsewhere_is_added_here_all_the_same() -> None:
    after = _GONE.replace("self.low(x)", "self.low.to(self.device)(x)")
    assert "put-away" in [one.id for one in fitting(_GONE, after, "en")]
