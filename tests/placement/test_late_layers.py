"""Forms in which people put a layer into a model that was moved before, each told as that."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source, syntax_patterns
from diagnose.placement.analysis import analyse
from diagnose.placement.localization.suspects import of_meeting

NET = """\
import timm
import torch
from torch import nn
from transformers import BertConfig, BertModel
device = torch.device("cuda")
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.head = nn.Linear(4, 2)
        self.heads = nn.ModuleDict()
        self.layers = nn.ModuleList([nn.Linear(4, 4)])
    def forward(self, x, task=None):
        for l in self.layers:
            x = l(x)
        h = self.body(x)
        if task:
            return self.heads[task](h)
        return self.head(h)
"""

#: Name -> the rest of the program; ``# here`` ends the line to edit.
FORMS = {
    "seqwrap": """\
model = Net().to(device)
model = nn.Sequential(model, nn.Linear(2, 2))  # here
model(torch.rand(1,4).to(device))
""",
    "method": """\
class T:
    def __init__(self):
        self.net = Net()
        self.net.to(device)
    def extend(self):
        self.net.head = nn.Sequential(nn.Linear(4, 3))  # here
    def run(self):
        return self.net(torch.rand(1,4,device=device))
t = T(); t.extend(); t.run()
""",
    "append": """\
model = Net().to(device)
model.layers.append(nn.Linear(4, 4))  # here
model(torch.rand(1,4).to(device))
""",
    "dict": """\
model = Net().to(device)
model.heads["a"] = nn.Linear(4, 2)  # here
model(torch.rand(1,4).to(device), "a")
""",
    "dictupd": """\
model = Net().to(device)
model.heads.update({"a": nn.Linear(4, 2)})  # here
model(torch.rand(1,4).to(device), "a")
""",
    "setattr": """\
model = Net().to(device)
setattr(model, "head", nn.Linear(4, 2))  # here
model(torch.rand(1,4).to(device))
""",
    "replace_loop": """\
class Lora(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base
        self.a = nn.Linear(4, 2)
    def forward(self, x):
        return self.base(x) + self.a(x)
model = Net().to(device)
for name, child in list(model.named_children()):
    if isinstance(child, nn.Linear):
        setattr(model, name, Lora(child))  # here
model(torch.rand(1,4).to(device))
""",
    "lora_param": """\
class Lora(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.zeros(4, 2))
    def forward(self, x):
        return self.base(x) + x @ self.a
model = Net().to(device)
model.head = Lora(model.head)  # here
model(torch.rand(1,4).to(device))
""",
    "timm": """\
model = timm.create_model("resnet18").cuda()
model.reset_classifier(10)  # here
model(torch.rand(1,3,8,8).cuda())
""",
    "hf": """\
model = BertModel(BertConfig()).to(device)
model.pooler.dense = nn.Linear(4, 4)  # here
model(torch.ones(1,4).to(device))
""",
    "deep": """\
model = Net()
model = model.cuda()
new = nn.Linear(4, 8)  # here
new.weight.data[:2] = model.head.weight.data
model.head = new
model(torch.rand(1,4).cuda())
""",
    "param": """\
model = Net().to(device)
model.body.weight = nn.Parameter(torch.rand(4, 4))  # here
model(torch.rand(1,4).to(device))
""",
    "deepcopy": """\
model = Net().to(device)
model.layers = nn.ModuleList([nn.Linear(4,4) for _ in range(3)])  # here
model(torch.rand(1,4).to(device))
""",
    "prepare": """\
from accelerate import Accelerator
acc = Accelerator()
model = Net()
model = acc.prepare(model)
model.head = nn.Linear(4, 3)  # here
model(torch.rand(1,4).to(acc.device))
""",
}


@pytest.mark.parametrize("name", FORMS)
def test_a_layer_that_came_after_the_move(name: str) -> None:
    text = NET + FORMS[name]
    program = analyse(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    found = [one for met in program.meetings for one in of_meeting(met, ("cuda:0", "cpu"))]
    assert {(one.cause, one.spot.code.endswith("# here")) for one in found} == {
        ("submodule-added-after-move", True)
    }
    assert program.complete


@pytest.mark.parametrize(
    ("made", "line"), [("parts.Head(4)", 5), ("collections.OrderedDict()", None)]
)
def test_what_python_itself_builds_is_no_layer(made: str, line: int | None) -> None:
    text = f"import collections\nimport parts\nnet = parts.built()\nnet.cuda()\nnet.last = {made}\n"
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    cause = "submodule-added-after-move"
    found = syntax_patterns.suspect(cause, [source], ["net(rows)"], [], torch())
    assert (found and found.spot.line) == line


#: Name -> the body of a function that moves a model, has layers added to it, and runs it.
