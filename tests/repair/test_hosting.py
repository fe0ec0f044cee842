"""Lists of which a part is on a GPU, handed to functions of the host; replicas that move what they got."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proposals import proposed


def test_the_parts_of_a_list_come_to_the_host_where_it_is_written(tmp_path: Path) -> None:
    program = """\
import numpy as np
import torch

score = torch.ones(3, device="cuda").mean()
kept = torch.ones(3).mean()
row = [1.0, score, kept]
print(np.array(row))
"""
    assert ("row = [1.0, score.detach().cpu(), kept]",) in proposed(tmp_path, program)


def test_a_list_that_is_collected_comes_to_the_host_as_a_whole(tmp_path: Path) -> None:
    program = """\
import numpy as np
import torch


def scores():
    return [torch.ones(3, device="cuda").sum() for _ in range(2)]


found = scores()
print(np.array(found))
"""
    assert ("print(np.array([v.detach().cpu() for v in found]))",) in proposed(tmp_path, program)


@pytest.mark.parametrize("both", ["found + [last]", "[*found, last]", "[last] + found + [last]"])
def test_lists_that_are_put_together_come_to_the_host(tmp_path: Path, both: str) -> None:
    program = f"""\
import numpy as np
import torch


def scores():
    return [torch.ones(3, device="cuda").sum() for _ in range(2)]


found, last = scores(), torch.ones((), device="cuda")
print(np.array({both}))
"""
    whole = f"print(np.array([v.detach().cpu() for v in {both}]))"
    assert (whole,) in proposed(tmp_path, program)


def test_a_replica_leaves_its_input_where_it_was_brought(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.device = torch.device("cuda:0")
        self.layer = nn.Linear(3, 2)

    def prepare(self, x):
        return x.float().to(self.device)

    def forward(self, x):
        return self.layer(self.prepare(x))


net = nn.DataParallel(Net().to("cuda:0"), device_ids=[0, 1])
net(torch.ones(4, 3, device="cuda:0"))
"""
    assert ("return x.float()",) in proposed(tmp_path, program)


def test_a_wrapper_tells_its_first_device_where_the_call_does_not(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn

chosen = None
net = nn.DataParallel(nn.Linear(3, 2), device_ids=chosen)
net = net.to("cuda:1")
net(torch.ones(4, 3, device="cuda:1"))
"""
    assert ('net = net.to(f"cuda:{net.device_ids[0]}")',) in proposed(tmp_path, program)


def test_the_devices_that_are_counted_begin_with_the_first(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn

net = nn.Linear(3, 2).to("cuda:1")
net = nn.DataParallel(net, device_ids=list(range(torch.cuda.device_count())))
net(torch.ones(4, 3, device="cuda:1"))
"""
    found = proposed(tmp_path, program)
    assert any('DataParallel(net.to("cuda:0"), ' in row for rows in found for row in rows)


def test_a_collected_number_is_kept_as_one_where_it_is_appended(tmp_path: Path) -> None:
    program = """\
import numpy as np
import torch

log = {"loss": []}
for step in range(2):
    log["loss"].append(torch.ones(3, device="cuda").mean().detach())


def curves(log):
    return [np.diff(rows) for rows in log.values()]


curves(log)
"""
    row = 'log["loss"].append(torch.ones(3, device="cuda").mean().item())'
    assert (row,) in proposed(tmp_path, program)


def test_a_tensor_is_an_array_where_methods_of_arrays_follow(tmp_path: Path) -> None:
    program = """\
import numpy as np
import torch


def report(parts):
    scores = torch.cat(parts)
    top = np.asarray(scores).max()
    return top, (scores > 0.5).astype(int)


report([torch.ones(3, device="cuda")])
"""
    row = "scores = torch.cat(parts).cpu().numpy()"
    assert (row,) in proposed(tmp_path, program)
    (tmp_path / "other").mkdir()
    without = program.replace(".astype(int)", "")
    assert (row,) not in proposed(tmp_path / "other", without)


def test_the_gpu_that_was_chosen_comes_first_in_a_wrapper(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn

device = torch.device("cuda", 1)
net = nn.Linear(3, 2).to(device)
net = nn.DataParallel(net)
net(torch.ones(4, 3).to(device))
"""
    others = "*(i for i in range(torch.cuda.device_count()) if i != device.index)"
    row = f"net = nn.DataParallel(net, device_ids=[device.index, {others}])"
    assert (row,) in proposed(tmp_path, program)


def test_what_another_function_of_the_host_is_given_comes_to_the_host(tmp_path: Path) -> None:
    program = """\
import numpy as np
import torch


def curve(points):
    return np.interp([0.5], [0.0, 1.0], points)


row = torch.ones(2, device="cuda")
print(curve(row))
"""
    assert ("return np.interp([0.5], [0.0, 1.0], points.cpu())",) in proposed(tmp_path, program)
