"""Patches that do one half of something."""

from __future__ import annotations

import pytest

from diagnose.repairing.guarding.halves import given_back, left_alone

MAPPED = """\
def map_state(opt, fn):
    for state in opt.state.values():
        for k, v in state.items():
            state[k] = fn(v)
"""
PAIR = """\
def edges(side):
    ids = torch.arange(side)
    senders = torch.cat([ids[:-1], ids[1:]])
    receivers = torch.cat([ids[1:], ids[:-1]])
    weights = torch.ones(len(senders))
    return senders, receivers, weights
"""


def test_what_a_given_function_makes_is_not_brought_back() -> None:
    (found,) = given_back(MAPPED, MAPPED.replace("fn(v)", "fn(v).to(v.device)"), "en")
    assert (found.id, found.holds) == ("gives-up", False)
    assert "fn" in found.sentence


@pytest.mark.parametrize(
    ("before", "new"),
    [
        (MAPPED, "fn(v).to(opt.device)"),
        (MAPPED, "fn(v.to(k.device))"),
        (MAPPED.replace("(opt, fn)", "(opt)"), "fn(v).to(v.device)"),
    ],
)
def test_other_moves_of_its_result_may_be_meant(before: str, new: str) -> None:
    assert not list(given_back(before, before.replace("fn(v)", new), "en"))


def test_two_that_are_made_alike_are_moved_together() -> None:
    one = PAIR.replace("ids[:-1]])", "ids[:-1]]).to(DEVICE)")
    (found,) = left_alone(PAIR, one, "en")
    assert (found.id, found.holds) == ("parted", False)
    assert "receivers" in found.sentence and "senders" in found.sentence
    both = one.replace("ids[1:]])\n", "ids[1:]]).to(DEVICE)\n")
    assert not list(left_alone(PAIR, both, "en"))


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (PAIR, "len(senders))", "len(senders)).to(DEVICE)"),  # made otherwise
        (
            PAIR.replace("senders, receivers, weights", "receivers"),
            "ids[:-1]])",
            "ids[:-1]]).to(d)",
        ),
        (PAIR, "ids[:-1]])", "ids[:-1]]).cpu()"),
    ],
)
def test_what_is_alone_may_be_moved(before: str, old: str, new: str) -> None:
    assert not list(left_alone(before, before.replace(old, new), "en"))
