"""Edits of arguments that a caller may leave out."""

from __future__ import annotations

import pytest
from repair.guards import told_by

from diagnose.repair.patch import Patch
from diagnose.repair.validation.optional import absent, emptied
from diagnose.repair.validation.removed_wrappers import unwrapped, wrapping

PROGRAM = """\
def step(model, x, y=None, *, mask=None):
    if y is not None:
        y = y.long()
    FIRST
    return model(x, y)
"""


def objections(text: str, old: str, new: str) -> list[str]:
    after = text.replace(old, new)
    assert after != text
    return [guard.sentence for guard in told_by(absent, text, after)]


def test_what_may_be_left_out_is_not_moved_unasked() -> None:
    told = objections(PROGRAM, "model(x, y)", "model(x, y.to(x.device))")
    assert told == ["line 5 moves y, which may be None there"]
    assert objections(PROGRAM, "FIRST", "y = y.cuda()")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y.long()", "y.long().to(x.device)"),
        ("y = y.long()", "y = y.to(x.device).long()"),
        ("model(x, y)", "model(x, None if y is None else y.to(x.device))"),
        ("model(x, y)", "model(x, y and y.to(x.device))"),
        ("model(x, y)", "model(x.to(y.device), y)"),
    ],
)
def test_what_is_asked_for_may_be_moved(old: str, new: str) -> None:
    assert not objections(PROGRAM, old, new)


def test_who_never_asks_is_always_given_it() -> None:
    assert not objections(PROGRAM, "FIRST", "mask = mask.cuda()")
    settled = PROGRAM.replace("FIRST", "if y is None:\n        return None")
    assert not objections(settled, "model(x, y)", "model(x, y.cuda())")
    others = PROGRAM.replace("FIRST", "if not yes:\n        return None").replace(
        "x, y", "yes, x, y"
    )
    assert objections(others, "model(yes, x, y)", "model(yes, x, y.cuda())"), (
        "another name is asked"
    )


def test_no_branch_is_emptied_where_there_are_modes() -> None:
    alone = "if many:\n    net = Parallel(net)\nfor x in y:\n    use(x)\n"
    before = f"if split:\n    net = net.spread()\n{alone}"
    after = before.replace("net = Parallel(net)", "pass")
    assert [guard.id for guard in told_by(emptied, before, after)] == ["gives-up"]
    assert not list(told_by(emptied, alone, alone.replace("net = Parallel(net)", "pass")))
    loop = before.replace("use(x)", "pass")
    assert not list(told_by(emptied, before, loop)), "only a branch is another mode"


def test_no_branch_of_an_option_is_emptied() -> None:
    before = 'if settings["many"] and count() > 1:\n    net = Parallel(net)\nuse(net)\n'
    after = before.replace("net = Parallel(net)", "pass")
    assert [guard.id for guard in told_by(emptied, before, after)] == ["gives-up"]
    of_machine = before.replace('settings["many"] and count()', "torch.cuda.device_count()")
    gone = of_machine.replace("net = Parallel(net)", "pass")
    assert not list(told_by(emptied, of_machine, gone)), "the machine chooses no mode"


def test_a_wrapper_stays_for_those_that_are_not_split() -> None:
    before = """\
def build(cfg):
    net = Net()
    if cfg.split:
        net.spread("cuda:0", "cuda:1")
    else:
        net.cuda()
    if count > 1:
        net = nn.DataParallel(net)
    return net
"""
    gone = before.replace("    if count > 1:\n        net = nn.DataParallel(net)\n", "")
    assert [guard.id for guard in told_by(unwrapped, before, gone)] == ["gives-up"]
    better = before.replace("if count > 1:", "if count > 1 and not (cfg.split):")
    assert next(wrapping(Patch(before, gone))) == better
    one_way = before.replace("    else:\n        net.cuda()\n", "")
    assert not list(
        told_by(unwrapped, one_way, one_way.replace("net = nn.DataParallel(net)", "pass"))
    )


def test_what_is_split_is_not_wrapped() -> None:
    whole = "len({one.device for one in net.parameters()}) < 2"
    for wrap, bare in (
        ("net = nn.DataParallel(net)", "pass"),
        ("return nn.DataParallel(net)", "return net"),
    ):
        before = f"def wrap(net):\n    if count() > 1:\n        {wrap}\n    return net\n"
        better = before.replace("if count() > 1:", f"if count() > 1 and {whole}:")
        assert list(wrapping(Patch(before, before.replace(wrap, bare)))) == [better]
    chosen = "def wrap(net):\n    return nn.DataParallel(net) if count() > 1 else net\n"
    (told,) = wrapping(Patch(chosen, "def wrap(net):\n    return net\n"))
    assert told == chosen.replace("count() > 1", f"count() > 1 and {whole}")
