"""Patches that leave a model, its weights or what its replicas share elsewhere than the program wants them."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.guards import guards_of_run
from repair.proofs import proof

from diagnose.repair.model import Candidate, Ran
from diagnose.repair.validation.differential import homes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "user"
    made.mkdir()
    return made


def test_what_is_put_away_at_the_end_may_have_come_once(folder: Path) -> None:
    program = (
        'import torch\n\nnet = torch.nn.Linear(3, 2)\nx = torch.ones(2, 3, device="cuda")\n'
        'print(net(x).sum().item())\nnet.to("cpu")\ntorch.save(net.state_dict(), "net.pt")\n'
    )
    level, guards = proof(folder, program, ("Linear(3, 2)", 'Linear(3, 2).to("cuda")'))
    assert level == "proven", guards


#: A model on two GPUs whose output layer is its input layer.
TIED = """\
import torch
from torch import nn


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(6, 4).to("cuda:0")
        self.scale = nn.Parameter(torch.ones(4, device="cuda:0"))
        self.body = nn.Linear(4, 4).to("cuda:1")

    def forward(self, ids):
        hidden = self.body(self.words(ids).to("cuda:1"))
        return hidden USED


model = Tied()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    loss = model(torch.arange(4, device="cuda:0")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
"""


def test_what_meets_a_matrix_comes_to_it(folder: Path) -> None:
    program = TIED.replace("USED", "@ self.words.weight.T")
    goes = ("weight.T", "weight.T.to(hidden.device)")
    level, guards = proof(folder, program, goes, kind="move-tensor-at-line", cause="cross-shard-op")
    assert guards["carried"] is False
    assert level == "same-numbers"
    comes = ("return hidden @", "return hidden.to(self.words.weight.device) @")
    level, guards = proof(
        folder, program, comes, kind="move-tensor-at-line", cause="cross-shard-op"
    )
    assert level == "proven", guards


def test_a_vector_of_weights_may_go_where_it_is_used(folder: Path) -> None:
    program = TIED.replace("USED", "* self.scale")
    goes = ("* self.scale", "* self.scale.to(hidden.device)")
    guards = proof(folder, program, goes, kind="move-tensor-at-line", cause="cross-shard-op")[1]
    assert "carried" not in guards


#: What a frozen part gives and what a part gives that trains, on two GPUs.
JOINED = """\
import torch
from torch import nn

torch.manual_seed(0)
body = nn.Linear(4, 4).to("cuda:0").requires_grad_(False)
eye = nn.Linear(3, 4).to("cuda:1")
optimizer = torch.optim.SGD(eye.parameters(), lr=0.1)
for _ in range(2):
    seen = eye(torch.ones(2, 3, device="cuda:1"))
    text = body(torch.ones(2, 4, device="cuda:0"))
    loss = body(torch.cat([seen, text])).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
"""


def test_what_trains_may_go_to_what_a_frozen_layer_gives(folder: Path) -> None:
    comes = ("cat([seen,", "cat([seen.to(text.device),")
    level, guards = proof(folder, JOINED, comes, kind="move-tensor-at-line", cause="cross-shard-op")
    assert level == "proven", guards


#: What replicas share, as an attribute of their class or of their own.
REPLICAS = """\
import torch
from torch import nn


class Gate(nn.Module):
    cache = None

    def __init__(self):
        super().__init__()
        self.low = nn.Linear(4, 4)

    def forward(self, x):
        return self.low(x) * HELD


torch.manual_seed(0)
gate = Gate().cuda()
HELD = torch.ones(4, device="cuda:0")
net = nn.DataParallel(gate, device_ids=[0, 1]).eval()
for _ in range(2):
    print(net(torch.ones(4, 4, device="cuda:0")).sum().item())
"""


def test_what_replicas_share_goes_to_each(folder: Path) -> None:
    shared = REPLICAS.replace("HELD =", "Gate.cache =").replace("* HELD", "* Gate.cache")
    edit = ("* Gate.cache", "* Gate.cache.to(x.device)")
    cause = "dataparallel-replica-state"
    kind = "move-tensor-at-line"
    level, guards = proof(folder, shared, edit, kind=kind, cause=cause, stopgap=True)
    assert level == "proven", guards
    computed = shared.replace(
        "torch.ones(4, device", "gate.low.weight.sum(0) * torch.ones(4, device"
    )
    level, guards = proof(folder, computed, edit, kind="move-tensor-at-line", cause=cause)
    assert level == "proven", guards
    own = REPLICAS.replace("HELD =", "gate.held =").replace("* HELD", "* self.held")
    edit = ("* self.held", "* self.held.to(x.device)")
    level, guards = proof(folder, own, edit, kind=kind, cause=cause, stopgap=True)
    assert guards["stopgap"] is False
    assert level == "same-numbers", "a buffer would go to each replica by itself"


def test_a_model_that_leaves_its_wrapper_is_known_by_its_layers() -> None:
    wrapped = Ran(0, homes={"DataParallel#1.module.low": "cuda:0", "Head#1.high": "cuda:0"})
    bare = Ran(0, homes={"Net#1.low": "cuda:0", "Head#1.high": "cuda:0"})
    edit = Candidate("dataparallel-home-device", "", "single-gpu", "", "train.py", 5, "")
    other = edit._replace(cause="input-not-moved")
    assert all(guard.holds for guard in guards_of_run(homes, bare, [other], wanted=wrapped))
    away = bare._replace(homes={**bare.homes, "Net#1.low": "cpu"})
    assert [one.holds for one in guards_of_run(homes, away, [other], wanted=wrapped)] == [False]
    second = bare._replace(homes={**bare.homes, "Net#1.low": "cuda:1"})
    split = edit._replace(cause="device-map-under-training")
    assert all(guard.holds for guard in guards_of_run(homes, second, [split], wanted=wrapped))
    assert [one.holds for one in guards_of_run(homes, second, [other], wanted=wrapped)] == [False]
