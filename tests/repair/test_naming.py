"""How an edit says which device it means."""

from __future__ import annotations

import pytest
from repair.guards import told_by

from diagnose.repair.validation.device_names import (
    literal,
)

KEPT = """\
def train(loader, steps):
    net = Net().to({where})
    noise = torch.Generator()
"""
NOISE = ("torch.Generator()", 'torch.Generator(device="cuda")')


@pytest.mark.parametrize(
    "before",
    [
        "device = pick()\n{}".format(KEPT.format(where="device")),
        'config = {{"device": pick()}}\n{}'.format(KEPT.format(where='config["device"]')),
        KEPT.format(where="device").replace("steps", "device"),
        'main_gpu = 0\n\n\ndef score(net, device="cuda"):\n    use(net)\n\n\n'
        + KEPT.format(where="device"),
        "main_gpu = 0\n" + KEPT.format(where="main_gpu"),
        "class Net:\n    def put(self, where):\n        self.device = where\n\n\n"
        + KEPT.format(where='"cuda"'),
    ],
)
def test_a_gpu_is_not_written_down_where_the_program_keeps_its_device(before: str) -> None:
    assert [one.id for one in told_by(literal, before, before.replace(*NOISE))] == ["literal"]


@pytest.mark.parametrize(
    ("before", "edit"),
    [
        (KEPT.format(where='"cuda"'), NOISE),
        (KEPT.format(where="steps.device"), NOISE),
        ('device = "cuda:7"\nnet.to(device)\n', ("cuda:7", "cuda")),
        ('def score(net, x, device="cpu"):\n    return net(x)\n', ("cpu", "cuda")),
        (
            "def wrap(net, device):\n    return DataParallel(net, device_ids=[0, 1])\n",
            ("Parallel(net,", 'Parallel(net.to("cuda:0"),'),
        ),
    ],
)
def test_a_gpu_may_be_written_down_where_nothing_else_names_it(
    before: str, edit: tuple[str, str]
) -> None:
    assert edit[0] in before
    assert not list(told_by(literal, before, before.replace(*edit)))


WRAP = """\
class Many:
    def __init__(self, net):
        self.net = DataParallel(net)
"""


def test_a_callers_model_is_not_brought_to_a_gpu_of_ones_own() -> None:
    after = WRAP.replace("(net)\n", '(net.to("cuda:0"))\n')
    (found,) = told_by(literal, WRAP, after)
    assert "net.device" in found.sentence
    own = WRAP.replace("(net)\n", "(Net())\n")
    assert not list(told_by(literal, own, own.replace("Net()", 'Net().to("cuda:0")')))


MODULE = """\
class Net(nn.Module):
    def __init__(self):
        self.body = Body()


net = Net()
"""


def test_a_class_of_modules_does_not_say_which_gpu_it_is_on() -> None:
    inside = MODULE.replace("Body()", 'Body().to("cuda:0")')
    assert [one.id for one in told_by(literal, MODULE, inside)] == ["literal"]
    assert not list(told_by(literal, MODULE, MODULE.replace("= Net()", '= Net().to("cuda:0")')))
