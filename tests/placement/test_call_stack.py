"""A value is followed through the calls of a traceback to where it is defined."""

from __future__ import annotations

import pytest

from diagnose.casebase.store import Casebase
from diagnose.model import Diagnosis
from diagnose.parsing import parse
from diagnose.pipeline import diagnose
from diagnose.scene import Scene
from diagnose.sources import Given, Sources

TYPES = "RuntimeError: Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same"
INPUT = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! (when checking argument for argument mat1 in method wrapper_CUDA_addmm)"
ENTERED = """  File "/v/site-packages/torch/nn/modules/module.py", line 1194, in _call_impl
    return forward_call(*input, **kwargs)
"""
CONV = """  File "/v/site-packages/torch/nn/modules/conv.py", line 463, in forward
    return self._conv_forward(input, self.weight, self.bias)
"""
LINEAR = """  File "/v/site-packages/torch/nn/modules/linear.py", line 114, in forward
    return F.linear(input, self.weight, self.bias)
"""
NET = """import torch
from torch import nn
from somewhere import build, draw

class Net(nn.Module):
    def forward(self, x):
        return self.act(self.conv(x.float()))

"""


def _trace(text: str, lines: list[str], inner: str, message: str) -> str:
    """The traceback of a failure in a program: its lines by their text, outermost first."""
    trace = "Traceback (most recent call last):\n"
    listed = [line.strip() for line in text.split("\n")]
    for number, line in enumerate(lines):
        trace += ENTERED if number and line.startswith("return self.act") else ""
        trace += f'  File "/home/u/job.py", line {listed.index(line) + 1}, in run\n    {line}\n'
    return f"{trace}{ENTERED}{inner}{message}\n"


def _answer(text: str, lines: list[str], inner: str, message: str) -> Diagnosis:
    trace = _trace(text, lines, inner, message)
    return diagnose(trace, sources=Sources([Given({"job.py": text})], read=None))


FORWARD = "return self.act(self.conv(x.float()))"
CLOSURE = f"""{NET}
def run():
    net = build(Net)
    class Client:
        def fit(self, data):
            train(net, data, rounds=1)
    serve(Client())

def train(model, data, rounds):
    for x, y in data:
        loss = measure(model(x), y)
"""
ATTRIBUTE = f"""{NET}
class Trainer:
    def __init__(self, config, device):
        self.device = device
        self.net = build(config)
    def fit(self, data):
        for x in data:
            self.step(x.to(self.device))
    def step(self, x):
        return self.net(x)
"""
HELPER = f"""{NET}
def run(config, x):
    built = build(config)
    score(x, net=built)

def score(x, net):
    module = net
    return module(x)
"""


@pytest.mark.parametrize(
    ("text", "lines", "defined"),
    [
        (
            CLOSURE,
            [
                "serve(Client())",
                "train(net, data, rounds=1)",
                "loss = measure(model(x), y)",
                FORWARD,
            ],
            "net = build(Net)",
        ),
        (
            ATTRIBUTE,
            ["self.step(x.to(self.device))", "return self.net(x)", FORWARD],
            "self.net = build(config)",
        ),
        (HELPER, ["score(x, net=built)", "return module(x)", FORWARD], "built = build(config)"),
    ],
)
def test_a_module_on_the_cpu_is_moved_where_it_is_built(
    text: str, lines: list[str], defined: str
) -> None:
    answer = _answer(text, lines, CONV, TYPES)
    assert answer.causes[0].id == "module-not-moved"
    assert answer.culprit is not None and answer.culprit.code == defined


WRAPPER = """from somewhere import draw

def wrap(forward):
    def run(obs):
        obs = draw(obs).unsqueeze(0)
        return forward(obs).action
    return run

class Policy:
    def act(self, data):
        return self.actor.compute(data)
"""
CHAIN = """from somewhere import draw

class Policy:
    def train(self, source):
        for batch in source:
            self.score(self.net, batch)
    def score(self, net, batch):
        batch = batch.view(-1, 3)
        return net(batch)
"""


@pytest.mark.parametrize(
    ("text", "lines", "defined"),
    [
        (
            WRAPPER,
            ["return forward(obs).action", "return self.actor.compute(data)"],
            "obs = draw(obs).unsqueeze(0)",
        ),
        (CHAIN, ["self.score(self.net, batch)", "return net(batch)"], "for batch in source:"),
    ],
)
def test_an_input_on_the_cpu_is_followed_to_where_it_is_made(
    text: str, lines: list[str], defined: str, casebase: Casebase
) -> None:
    report = parse(_trace(text, lines, LINEAR, INPUT), knowledge=casebase.knowledge)
    sources = Sources([Given({"job.py": text})], read=None)
    found = Scene(report, casebase.knowledge, sources).suspect("input-not-moved")
    assert found is not None
    assert found.spot.code == defined


def test_what_a_library_calls_is_not_followed() -> None:
    lines = ["self.score(self.net, batch)", "return net(batch)"]
    listed = [line.strip() for line in CHAIN.split("\n")]
    own = [
        f'  File "/home/u/job.py", line {listed.index(line) + 1}, in run\n    {line}\n'
        for line in lines
    ]
    library = '  File "/v/site-packages/ray/run.py", line 3, in call\n    return work(batch)\n'
    trace = (
        f"Traceback (most recent call last):\n{own[0]}{library}{own[1]}{ENTERED}{LINEAR}{INPUT}\n"
    )
    answer = diagnose(trace, sources=Sources([Given({"job.py": CHAIN})], read=None))
    assert answer.culprit is not None and answer.culprit.code == "return net(batch)"
