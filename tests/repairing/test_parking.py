"""What a program keeps on the cpu on purpose."""

from __future__ import annotations

import pytest

from diagnose.repairing.guarding.parking import rows

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
    (found,) = rows(ROWS, after, "en")
    assert found.id == "rows"
    assert "Rows" in found.sentence
    told = "n, device"
    known, moved = (text.replace("self, n", f"self, {told}") for text in (ROWS, after))
    assert not list(rows(known, moved, "en")), "it is told a device"
    layer = "\n    def forward(self, x):\n        return x\n"
    assert not list(rows(ROWS + layer, after + layer, "en")), "a module"
    one = ROWS.replace("__getitem__", "sample")
    assert not list(rows(one, one.replace("torch.rand(n, 3)", held), "en")), "its rows are its own"


def test_what_is_read_of_a_data_set_may_be_moved() -> None:
    row = ROWS.replace("self.held[index]", "self.held[index.to(self.held.device)]")
    assert not list(rows(ROWS, row, "en"))
    host = ROWS.replace("torch.rand(n, 3)", 'torch.rand(n, 3, device="cuda").to("cpu")')
    assert not list(rows(host, host.replace('device="cuda"', "pin_memory=True"), "en"))
