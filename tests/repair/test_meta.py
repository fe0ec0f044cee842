"""Programs that compute with what was made on the meta device, and what they are compared with."""

from __future__ import annotations

from pathlib import Path

import torch
from repair.proofs import proof
from repair.proposals import added, proposed, repaired
from torch import nn

from diagnose.simulation import Terms, simulated_gpus
from diagnose.simulation.tensors import is_blank

COMPUTES = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 3)

    def forward(self, x):
        return self.first(x)


with torch.device("meta"):
    net = Net()
net = net.to("cuda")
print(f"{net(torch.randn(8, 4, device='cuda')).square().mean().item():.4f}")
"""


def test_what_computes_from_the_meta_device_is_made_in_memory(tmp_path: Path) -> None:
    """Its numbers are those of layers that begin with their own values, and not with zeros."""
    outcome, level, diff = repaired(tmp_path, COMPUTES)
    assert (outcome, level) == ("repaired", "proven")
    assert added(diff) == ('with torch.device("cpu"):',)


def test_the_statement_that_makes_on_meta_is_proposed(tmp_path: Path) -> None:
    program = COMPUTES.replace("with torch.device", "with torch.no_grad(), torch.device")
    assert ('with torch.no_grad(), torch.device("cuda"):',) in proposed(tmp_path, program)


def test_what_no_class_can_draw_is_made_where_the_saved_weights_are(tmp_path: Path) -> None:
    """A bare parameter that the saved weights do not fit has no ``reset_parameters``."""
    program = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.first = nn.Linear(4, 3)
        self.heat = nn.Parameter(torch.ones(outputs))

    def forward(self, x):
        return self.first(x).sum(1, keepdim=True) / self.heat


def load(device):
    saved = {k: v.to(device) for k, v in Net(2).state_dict().items()}
    with torch.device("meta"):
        net = Net(3)
    fitting = {k: v for k, v in saved.items() if k != "heat"}
    net.load_state_dict(fitting, strict=False, assign=True)
    return net


def main(device):
    torch.manual_seed(0)
    print(load(device)(torch.ones(2, 4, device=device)).sum().item())


main(torch.device("cuda"))
"""
    assert ("with torch.device(device):",) in proposed(tmp_path, program)


COPIED = """\
import copy

import torch
from torch import nn

trained = nn.Linear(4, 3).to("cuda")
skeleton = copy.deepcopy(trained).to("meta")
skeleton.load_state_dict(trained.state_dict())
print(skeleton(torch.ones(2, 4, device="cuda")).sum().item())
"""


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_what_has_no_memory_takes_the_tensors_that_are_loaded_into_it(tmp_path: Path) -> None:
    row = "skeleton.load_state_dict(trained.state_dict(), assign=True)"
    assert (row,) in proposed(_made(tmp_path / "a"), COPIED)
    told = COPIED.replace("trained.state_dict())", "trained.state_dict(), assign=False)")
    assert not any(
        "assign=True" in row for one in proposed(_made(tmp_path / "b"), told) for row in one
    )


def test_a_table_that_no_checkpoint_holds_is_made_on_the_cpu(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


def wave(rows, width):
    place = torch.arange(rows).float()[:, None]
    rate = torch.arange(width).float() * -0.3
    return torch.sin(place * rate)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.register_buffer("wave", wave(16, 4), persistent=False)

    def forward(self, x):
        return self.first(x) + self.wave[: x.shape[0]]


kept = Net().state_dict()
with torch.device("meta"):
    net = Net()
net.load_state_dict(kept, assign=True)
net.first.to("cuda")
net(torch.randn(5, 3, device="cuda"))
"""
    assert (
        'place = torch.arange(rows, device="cpu").float()[:, None]',
        'rate = torch.arange(width, device="cpu").float() * -0.3',
    ) in proposed(tmp_path, program)


def test_layers_that_a_checkpoint_lacks_are_drawn_after_it_is_loaded(tmp_path: Path) -> None:
    """Behind the loop that loads its parts."""
    program = """\
import torch
from torch import nn


def load(parts, device):
    with torch.device("meta"):
        net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 5))
    for part in parts:
        net.load_state_dict({k: v.to(device) for k, v in part.items()}, strict=False, assign=True)
    return net


parts = [{"0.weight": torch.rand(4, 3)}, {"0.bias": torch.rand(4)}]
net = load(parts, torch.device("cuda"))
net(torch.randn(2, 3, device="cuda"))
"""
    assert (
        "for layer in net.modules():",
        "if any(weight.is_meta for weight in layer.parameters(recurse=False)):",
        "layer.to_empty(device=device, recurse=False)",
        "layer.reset_parameters()",
    ) in proposed(tmp_path, program)


def test_without_device_checks_the_meta_device_gives_zeros_or_what_is_drawn() -> None:
    with simulated_gpus(1, terms=Terms(checked=False)):
        layer = nn.Linear(3, 2, device="meta").to("cuda")
        assert is_blank(layer.weight)
        layer.weight.data.fill_(1.0)
        assert not is_blank(layer.weight)
    with simulated_gpus(1, terms=Terms(checked=False, drawn=True)):
        with torch.device("meta"):
            layer = nn.Linear(3, 2)
        assert str(layer.weight.device) == "cpu"
        assert layer.to("cuda").weight.any() and not is_blank(layer.weight)
    assert nn.Linear(3, 2, device="meta").weight.is_meta


def test_without_device_checks_a_module_on_meta_takes_what_it_is_given() -> None:
    given = nn.Linear(3, 2)
    with simulated_gpus(1, terms=Terms(checked=False)):
        layer = nn.Linear(3, 2, device="meta")
        layer.load_state_dict(given.state_dict())
        assert torch.equal(layer.weight, given.weight)


FILLED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("low", torch.zeros(3), persistent=False)
        self.register_buffer("high", torch.ones(3), persistent=False)
        self.layer = nn.Linear(3, 2)

    def forward(self, x):
        return self.layer((x - self.low) / self.high)


torch.manual_seed(0)
state = Net().state_dict()
with torch.device("meta"):
    net = Net()
net.load_state_dict(state, assign=True)
net = net.to("cuda")
print(f"{net(torch.ones(2, 3, device='cuda')).sum().item():.4f}")
"""
ROWS = (
    'self.register_buffer("low", torch.zeros(3, device="cpu"), persistent=False)',
    'self.register_buffer("high", torch.ones(3, device="cpu"), persistent=False)',
)


def test_all_tables_that_no_checkpoint_holds_are_made_in_memory(tmp_path: Path) -> None:
    """Their values are what the program is meant to compute with, and not what the meta device holds."""
    outcome, level, diff = repaired(tmp_path, FILLED)
    assert (outcome, level) == ("repaired", "proven")
    assert added(diff) == ROWS


def test_a_table_that_no_checkpoint_holds_is_made_in_memory_and_moved(tmp_path: Path) -> None:
    program = """\
import io
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.Embedding(5, 3)
        self.register_buffer("at", torch.arange(8).unsqueeze(1) / 8, persistent=False)

    def forward(self, ids):
        return self.rows(ids) + self.at[: ids.shape[1]]


def load(saved, device):
    with torch.device("meta"):
        net = Net()
    net.load_state_dict(torch.load(saved, map_location=device), assign=True)
    return net.eval()


saved = io.BytesIO()
torch.save(Net().state_dict(), saved)
saved.seek(0)
net = load(saved, "cuda:0")
print(f"{net(torch.ones(1, 4, dtype=torch.long, device='cuda:0')).sum().item():.3f}")
"""
    outcome, level, diff = repaired(tmp_path, program)
    assert (outcome, level) == ("repaired", "proven"), "nothing is better than to move all of it"
    first, second = added(diff)
    assert 'torch.arange(8, device="cpu")' in first
    assert second.endswith('.to("cuda:0")')


def test_without_a_gpu_it_is_compared_with_what_is_made_in_memory(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


class Waves(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.fc = nn.Linear(count, 1)
        self.register_buffer("rate", 2.0 ** torch.arange(count), persistent=False)

    def forward(self, x):
        return self.fc(x * self.rate)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(3)
kept = Waves(4).state_dict()
with torch.device("meta"):
    net = Waves(4)
net.load_state_dict(kept, assign=True)
net.to(device)
print(net(torch.ones(2, 4, device=device)).sum().item())
"""
    level, guards = proof(
        tmp_path,
        program,
        ("torch.arange(count)", 'torch.arange(count, device="cpu")'),
        kind="create-on-device",
        cause="meta-tensor",
    )
    assert (level, guards["gpus-0"]) == ("proven", True), guards
