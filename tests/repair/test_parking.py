"""What a program keeps on the cpu on purpose."""

from __future__ import annotations

import pytest
from repair.guards import told_by

from diagnose.repair.validation.host_residency import picked, rows

ROWS = """\
class Rows(Dataset):
    def __init__(self, n):
        self.held = torch.rand(n, 3)

    def __len__(self):
        return len(self.held)

    def __getitem__(self, index):
        return self.held[index]
"""


@pytest.mark.parametrize("held", ["torch.rand(n, 3).to(DEVICE)", "torch.rand(n, 3, device=DEVICE)"])
def test_a_data_set_stays_where_its_rows_are_read(held: str) -> None:
    after = ROWS.replace("torch.rand(n, 3)", held)
    (found,) = told_by(rows, ROWS, after)
    assert found.id == "rows"
    assert "Rows" in found.sentence
    told = "n, device"
    known, moved = (text.replace("self, n", f"self, {told}") for text in (ROWS, after))
    assert not list(told_by(rows, known, moved)), "it is told a device"
    layer = "\n    def forward(self, x):\n        return x\n"
    assert not list(told_by(rows, ROWS + layer, after + layer)), "a module"
    one = ROWS.replace("__getitem__", "sample")
    assert not list(told_by(rows, one, one.replace("torch.rand(n, 3)", held))), (
        "its rows are its own"
    )


RUN = """\
class Tides:
    def __init__(self, n):
        self.held = torch.rand(n, 3)

    def __iter__(self):
        return iter(self.held.split(2))


for tide in Tides(8):
    net(tide{move})
"""


def test_what_a_loop_runs_through_stays_where_the_loop_brings_it_from() -> None:
    brought = RUN.format(move=".to(DEVICE)")
    after = brought.replace("torch.rand(n, 3)", "torch.rand(n, 3, device=DEVICE)")
    (found,) = told_by(rows, brought, after)
    assert (found.id, "Tides" in found.sentence) == ("rows", True)
    plain = RUN.format(move="")
    moved = plain.replace("torch.rand(n, 3)", "torch.rand(n, 3, device=DEVICE)")
    assert not list(told_by(rows, plain, moved)), "nobody brings it"


def test_what_is_read_of_a_data_set_may_be_moved() -> None:
    row = ROWS.replace("self.held[index]", "self.held[index.to(self.held.device)]")
    assert not list(told_by(rows, ROWS, row))
    host = ROWS.replace("torch.rand(n, 3)", 'torch.rand(n, 3, device="cuda").to("cpu")')
    assert not list(told_by(rows, host, host.replace('device="cuda"', "pin_memory=True")))


BANK = """\
class Bank:
    def __init__(self, table, encoder):
        self.table = table
        self.encoder = encoder

    def rows(self, index):
        return self.table[index]


bank = Bank(torch.rand(9, 3), encoder)
found = bank.rows(best).to(device)
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("= table", "= table.to(device)"),
        ("(9, 3)", "(9, 3, device=device)"),
        ("Bank(torch.rand(9, 3), encoder)", "Bank(encoder=encoder, table=torch.rand(9, 3).cuda())"),
    ],
)
def test_what_is_kept_stays_where_the_caller_brings_what_is_picked(old: str, new: str) -> None:
    (found,) = told_by(picked, BANK, BANK.replace(old, new))
    assert found.id == "rows"
    assert "Bank" in found.sentence
    kept = BANK.replace(".to(device)\n", "\n")
    assert not list(told_by(picked, kept, kept.replace(old, new))), "nobody brings it"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[index]", "[index.to(self.table.device)]"),
        ("= encoder", "= encoder.to(device)"),
        ("3), encoder)", "3), encoder.to(device))"),
        ("= table", "= table.cpu()"),
    ],
)
def test_the_rest_may_be_moved(old: str, new: str) -> None:
    assert not list(told_by(picked, BANK, BANK.replace(old, new)))
