"""A function that brings a batch to its device, whatever it is nested in, goes through one container more."""

from __future__ import annotations

from pathlib import Path

import pytest
from forked import simulation
from repair.proposals import added, proposed, repaired

from diagnose.casebase.store import Casebase
from diagnose.pipeline import diagnose
from diagnose.sources import Folder, Sources

TUPLES = """\
import torch
from torch import nn


def send(batch, device):
    if isinstance(batch, dict):
        return {k: send(v, device) for k, v in batch.items()}
    if isinstance(batch, list):
        return [send(v, device) for v in batch]
    if torch.is_tensor(batch):
        return batch.to(device)
    return batch


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.Embedding(9, 4)

    def forward(self, batch):
        ids, weight = batch["history"]
        return (self.rows(ids) * weight[..., None]).sum(1)


def batches():
    for step in range(2):
        yield {"history": (torch.tensor([[step, 2]]), torch.ones(1, 2)), "name": "a"}


net = Scorer().to("cuda")
for one in batches():
    one = send(one, "cuda")
    print(f"{net(one).sum().item():.3f}")
"""
WIDER = "if isinstance(batch, (list, tuple)):"


def test_a_tuple_is_gone_through_as_lists_are(tmp_path: Path) -> None:
    outcome, level, diff = repaired(tmp_path, TUPLES)
    assert (outcome, level) == ("repaired", "proven")
    assert added(diff) == (WIDER,)


def test_the_answer_to_the_traceback_names_the_function(tmp_path: Path, casebase: Casebase) -> None:
    (tmp_path / "train.py").write_text(TUPLES)
    done = simulation(tmp_path, "--gpus", "1", "train.py")
    assert "Expected all tensors" in done.stderr
    sources = Sources([Folder(str(tmp_path))], read=None)
    answer = diagnose(done.stderr, "traceback", casebase=casebase, sources=sources)
    edits = [fix.edit for fix in answer.causes[0].fixes if fix.edit is not None]
    assert edits[0].after == f"    {WIDER}"


def test_each_container_that_it_leaves_out_is_tried(tmp_path: Path) -> None:
    program = TUPLES.replace("(batch, list)", "(batch, tuple)").replace("(batch, dict)", "(1, int)")
    found = proposed(tmp_path, program)
    assert ("if isinstance(batch, (tuple, list)):",) in found
    assert (
        "if isinstance(batch, dict):",
        "return {k: send(v, device) for k, v in batch.items()}",
    ) in found


def test_what_knows_all_containers_is_left_alone(tmp_path: Path) -> None:
    program = TUPLES.replace("(batch, list)", "(batch, Sequence)").replace(
        'one = send(one, "cuda")', "pass"
    )
    assert not [rows for rows in proposed(tmp_path, program) if any("isinst" in r for r in rows)]


FLAT = """\
import torch
from torch import nn


def send(batch, device):
    {body}


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.Linear(3, 4)

    def forward(self, views):
        return torch.stack([self.rows(view) for view in views]).sum()


net = Scorer().to("cuda")
batch = {{"views": {made}, "names": ["a", "b"], "x": torch.ones(2)}}
for one in torch.utils.data.DataLoader([0, 1], batch_size=None, collate_fn=lambda _: dict(batch)):
    one = send(one, "cuda")
    print((net(one["views"]) - one["x"]).norm().item())
"""
CHOSEN = "return {k: v.to(device) if torch.is_tensor(v) else v for k, v in batch.items()}"
BOUND = """\
out = {}
    for key, value in batch.items():
        out[key] = value.to(device) if isinstance(value, torch.Tensor) else value
    return out"""
ASKED = """\
for key, value in batch.items():
        if isinstance(value, torch.Tensor):  # the rest stays
            batch[key] = value.to(device)
    return batch"""
LIST = "[torch.ones(3), torch.ones(3)]"
ITEM = "item.to(device) if isinstance(item, torch.Tensor) else item for item in value"


@pytest.mark.parametrize(
    ("body", "made", "rows"),
    [
        (
            CHOSEN,
            LIST,
            (
                "return {k: v.to(device) if torch.is_tensor(v) else [item.to(device) if "
                "torch.is_tensor(item) else item for item in v] if isinstance(v, list) else v "
                "for k, v in batch.items()}",
            ),
        ),
        (BOUND, LIST, ("if isinstance(value, list):", f"value = [{ITEM}]")),
        (ASKED, LIST, ("if isinstance(value, list):", f"batch[key] = [{ITEM}]")),
        (
            BOUND,
            "(torch.ones(3), torch.ones(3))",
            ("if isinstance(value, tuple):", f"value = tuple({ITEM})"),
        ),
        (
            CHOSEN.replace("else v", 'else "-"'),
            LIST,
            None,
        ),
        (
            ASKED.replace(
                "if isinstance", "if key == 0:\n            pass\n        elif isinstance"
            ),
            LIST,
            None,
        ),
    ],
    ids=["chosen", "bound", "asked", "tuple", "replaced", "branch"],
)
def test_tensors_in_a_list_go_where_those_beside_it_go(
    tmp_path: Path, body: str, made: str, rows: tuple[str, ...] | None
) -> None:
    found = proposed(tmp_path, FLAT.format(body=body, made=made))
    if rows is None:
        assert not any("isinstance(v" in row and ", list)" in row for each in found for row in each)
    else:
        assert rows in found


def test_a_list_of_tensors_is_proven_to_be_left_out(tmp_path: Path) -> None:
    outcome, level, diff = repaired(tmp_path, FLAT.format(body=BOUND, made=LIST))
    assert (outcome, level) == ("repaired", "proven")
    assert added(diff) == ("if isinstance(value, list):", f"value = [{ITEM}]")


def test_the_answer_names_what_passes_over_a_list(tmp_path: Path, casebase: Casebase) -> None:
    loaded = (
        "torch.utils.data.DataLoader([0, 1], batch_size=None, collate_fn=lambda _: dict(batch))"
    )
    program = FLAT.format(body=BOUND, made=LIST).replace(loaded, "(batch, batch)")
    (tmp_path / "train.py").write_text(program)
    done = simulation(tmp_path, "--gpus", "1", "train.py")
    assert "Expected all tensors" in done.stderr
    sources = Sources([Folder(str(tmp_path))], read=None)
    answer = diagnose(done.stderr, "traceback", casebase=casebase, sources=sources)
    edits = [fix.edit for fix in answer.causes[0].fixes if fix.edit is not None]
    assert f"            value = [{ITEM}]" in edits[0].after
