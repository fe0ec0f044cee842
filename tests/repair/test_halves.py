"""Patches that do one half of something."""

from __future__ import annotations

import pytest
from repair.guards import told_by

from diagnose.repair.validation.partial_fixes import (
    alters,
    far,
    for_one_call,
    for_one_method,
    given_back,
    hops,
    left_alone,
)

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
    (found,) = told_by(given_back, MAPPED, MAPPED.replace("fn(v)", "fn(v).to(v.device)"))
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
    assert not list(told_by(given_back, before, before.replace("fn(v)", new)))


def test_a_part_is_moved_where_the_program_moves_the_rest() -> None:
    before = """\
def make():
    return Data(rows(), torch.ones(2))


data, device = make(), torch.device("cuda")
device = torch.device("cuda")
data = make()
x = data.x.to(device)
"""
    after = before.replace("Data(rows(),", "Data(rows().to(device),")
    assert [guard.id for guard in told_by(far, before, after)] == ["parted"]
    alone = (
        before.replace("x = data.x.to(device)\n", ""),
        after.replace("x = data.x.to(device)\n", ""),
    )
    assert not list(told_by(far, *alone))


@pytest.mark.parametrize(("handed", "ids"), [("net.parameters()", []), ("net", ["parted"])])
def test_a_model_is_moved_before_its_parameters_are_handed_on(handed: str, ids: list[str]) -> None:
    before = f"""\
def make():
    net = Net()
    return net, Adagrad({handed})


net, optimizer = make()
device = torch.device("cuda")
net.to(device)
"""
    after = before.replace("Net()", "Net().to(device)")
    assert [guard.id for guard in told_by(far, before, after)] == ids


def test_two_that_are_made_alike_are_moved_together() -> None:
    one = PAIR.replace("ids[:-1]])", "ids[:-1]]).to(DEVICE)")
    (found,) = told_by(left_alone, PAIR, one)
    assert (found.id, found.holds) == ("parted", False)
    assert "receivers" in found.sentence and "senders" in found.sentence
    both = one.replace("ids[1:]])\n", "ids[1:]]).to(DEVICE)\n")
    assert not list(told_by(left_alone, PAIR, both))


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
    assert not list(told_by(left_alone, before, before.replace(old, new)))


DENSITY = """\
class Density:
    def __init__(self):
        self.centres = torch.linspace(0, 1, 5)

    def mean(self, logits):
        return logits @ self.centres

    def score(self, logits, z):
        {brought}step = self.centres >= z
        return step * logits
"""


def test_what_one_method_brings_for_itself_another_one_reads_as_it_is() -> None:
    before = DENSITY.format(brought="")
    after = DENSITY.format(brought="self.centres = self.centres.to(z.device)\n        ")
    (found,) = told_by(for_one_method, before, after)
    assert found.id == "halves"
    assert "mean reads it" in found.sentence
    both = after.replace(
        "return logits @", "self.centres = self.centres.to(z.device)\n        return logits @"
    )
    assert not list(told_by(for_one_method, before, both)), "both bring it"
    asked = after.replace("        step", "        self.mean(z)\n        step").replace(
        "return logits @", "self.score(logits, z)\n        return logits @"
    )
    assert not list(told_by(for_one_method, before, asked)), "the one calls the other"
    alone = after.replace("return logits @ self.centres", "return len(self.centres)")
    assert not list(told_by(for_one_method, before, alone)), "where it is does not matter there"
    moving = after.replace("def score(", "def to(")
    assert not list(told_by(for_one_method, before, moving)), "that is what the method is for"


def test_what_is_moved_is_no_part_of_what_is_moved_elsewhere() -> None:
    before = "y = dec(torch.cat([skip, up(x)]))\n"
    after = "y = dec(torch.cat([skip, up(x).to(skip.device)]).to(dec.device))\n"
    (found,) = told_by(hops, before, after)
    assert found.id == "twice"
    once = "y = dec(torch.cat([skip.to(x.device), up(x)]))\n"
    assert not list(told_by(hops, before, once))
    same = "y = dec(torch.cat([skip.to(x.device), up(x.to(x.device))]))\n"
    assert not list(told_by(hops, before, same))
    kept = "return self.rows[ids].to(device)\n"
    moved = kept.replace("[ids]", "[ids.to(self.rows.device)]")
    assert not list(told_by(hops, f"def f(self):\n    {kept}", f"def f(self):\n    {moved}")), (
        "it was there"
    )


CODEC = """\
class Codec(nn.Module):
    def pack(self, x):
        return self.fc(x)

    def unpack(self, x):
        return self.fc(x)


def run(codec, x):
    packed = codec.pack(x)
    return codec.unpack(packed)
"""


def test_what_is_brought_for_one_call_is_brought_for_the_others() -> None:
    last = CODEC.replace("return codec.unpack", "return codec.to(x.device).unpack")
    (found,) = told_by(for_one_call, CODEC, last)
    assert (found.id, "pack" in found.sentence) == ("halves", True)
    first = CODEC.replace("packed = codec.pack", "packed = codec.to(x.device).pack")
    assert not list(told_by(for_one_call, CODEC, first)), "it is there when the other one is called"
    both = last.replace("packed = codec.pack", "packed = codec.to(x.device).pack")
    assert not list(told_by(for_one_call, CODEC, both))
    alone = CODEC.replace("packed = codec.pack(x)", "packed = x.half()")
    assert not list(
        told_by(for_one_call, alone, alone.replace("codec.un", "codec.to(x.device).un"))
    )


def test_what_the_caller_keeps_is_not_altered() -> None:
    before = "def forward(self, rows):\n    return self.fc(rows.x)\n"
    after = before.replace("    return", "    rows.x = rows.x.to(self.place)\n    return")
    (found,) = told_by(alters, before, after)
    assert (found.id, "rows" in found.sentence) == ("alters", True)
    own = "def moved(rows, place):\n    rows.x = rows.x.to(place)\n    return rows\n"
    beside = own.replace("    return", "    rows.y = rows.y.to(place)\n    return")
    assert not list(told_by(alters, own, beside))
    kept = "def forward(self, x):\n    return self.fc(x)\n"
    assert not list(told_by(alters, kept, kept.replace("    return", "    self.x = x\n    return")))
