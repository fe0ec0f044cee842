"""Patches without the places that they do not need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from repair.forms import shorter

from diagnose.repair.patch import Patch
from diagnose.repair.refinement.minimization import Trimmed
from diagnose.repair.refinement.polish import Node, Polish
from diagnose.repair.workspace import Workspace

BEFORE = "a = 1\nb = 2\nc = 3\nd = 4\n"


def test_each_place_is_left_out_in_turn_the_last_one_first() -> None:
    after = "a = 1.0\nb = 2\nc = 3.0\nd = 4\n"
    found = list(shorter({"train.py": BEFORE}, {"train.py": after}))
    assert [one.texts["train.py"] for one in found] == [
        BEFORE.replace("a = 1", "a = 1.0"),
        BEFORE.replace("c = 3", "c = 3.0"),
    ]


def test_one_place_and_lines_that_go_stay() -> None:
    assert not list(shorter({"train.py": BEFORE}, {"train.py": BEFORE.replace("b = 2", "b = 5")}))
    moved = "a = 1\nb = 2.5\nc = 3\n"
    (found,) = shorter({"train.py": BEFORE}, {"train.py": moved})
    assert found.texts["train.py"] == "a = 1\nb = 2\nc = 3\n"


def test_a_file_that_is_as_it_was_is_no_longer_edited() -> None:
    before = {"one.py": BEFORE, "two.py": BEFORE}
    after = {file: text.replace("b = 2", "b = 5") for file, text in before.items()}
    assert [list(one.texts) for one in shorter(before, after)] == [["one.py"], ["two.py"]]


def test_each_line_that_a_place_adds_is_left_out_in_turn() -> None:
    after = BEFORE.replace("c = 3\n", "b = b.to(d)\nc = c.to(d)\nc = 3\n")
    found = [one.texts["train.py"] for one in shorter({"train.py": BEFORE}, {"train.py": after})]
    assert found == [after.replace("c = c.to(d)\n", ""), after.replace("b = b.to(d)\n", "")]


def test_a_condition_stays_with_what_it_is_about() -> None:
    after = BEFORE.replace("c = 3\n", "for k in s:\n    if k in d:\n        s[k] = d\nc = 3\n")
    (found,) = shorter({"train.py": BEFORE}, {"train.py": after})
    assert found.texts["train.py"] == after.replace("        s[k] = d\n", "")


def test_each_piece_of_a_line_is_left_out_in_turn() -> None:
    before = {"train.py": "m = Both({'a': A(), 'b': B()})\n"}
    after = {"train.py": "m = Both({'a': A().to(d), 'b': B()}).to(d)\n"}
    assert [one.texts["train.py"] for one in shorter(before, after)] == [
        "m = Both({'a': A().to(d), 'b': B()})\n",
        "m = Both({'a': A(), 'b': B()}).to(d)\n",
    ]


def test_a_line_with_one_change_is_left_as_it_is() -> None:
    before = {"train.py": "m = Both(A())\n"}
    assert not list(shorter(before, {"train.py": "m = Both(A()).to(d)\n"}))


def test_what_an_added_move_makes_needless_goes() -> None:
    def tried(old: str, new: str) -> list[str]:
        return [one.texts["train.py"] for one in shorter({"train.py": old}, {"train.py": new})]

    old = "z = net(z.to(self.first))\n"
    new = "z = net(z.to(self.first).to(x.device))\n"
    assert tried(old, new) == ["z = net(z.to(x.device))\n"]
    old = "ids = torch.tensor(rows, device=head.weight.device, dtype=kind(8))\n"
    new = old.replace("kind(8))", "kind(8)).to(next(body.parameters()).device)")
    wanted = "ids = torch.tensor(rows, device=next(body.parameters()).device, dtype=kind(8))\n"
    assert wanted in tried(old, new)
    old = "kept.append(out[1].detach().squeeze(1))\n"
    new = "kept.append(out[1].detach().squeeze(1).detach().cpu())\n"
    assert "kept.append(out[1].detach().squeeze(1).cpu())\n" in tried(old, new)
    old = "rows = [{k: v for k, v in t.items()} for t in read(rows)]\n"
    new = old.replace("= ", "= [{k: v.to(d(0)) for k, v in one.items()} for one in ")[:-1] + "]\n"
    assert "rows = [{k: v.to(d(0)) for k, v in t.items()} for t in read(rows)]\n" in tried(old, new)
    old = "z = net(z.to(torch.float16))\n"
    new = "z = net(z.to(torch.float16).to(x.device))\n"
    assert not tried(old, new), "it is no move alone that would go"
    assert not tried("a = b\n", "a = b.to(c).to(d).detach()\n")[1:]


def test_a_current_gpu_is_chosen_where_it_is_first_missed() -> None:
    before = "def run(rank):\n    net = made().cuda()\n    rows = load()\n    go(net, rows)\n"
    after = before.replace(".cuda()", ".cuda(rank)").replace(
        "    go(", "    torch.cuda.set_device(rank)\n    go("
    )
    found = [one.texts["train.py"] for one in shorter({"train.py": before}, {"train.py": after})]
    assert found[0] == before.replace("    net", "    torch.cuda.set_device(rank)\n    net")
    deeper = after.replace("    torch.cuda", "        torch.cuda")
    found = [one.texts["train.py"] for one in shorter({"train.py": before}, {"train.py": deeper})]
    assert all("set_device(rank)\n    net" not in one for one in found)


def test_a_line_of_several_is_left_as_it_was() -> None:
    before = {"train.py": "m = {\n    'a': A(),\n}\n"}
    after = {"train.py": "m = Dict({\n    'a': A().to(d),\n})\n"}
    found = [one.texts["train.py"] for one in shorter(before, after)]
    assert "m = Dict({\n    'a': A(),\n})\n" in found


def test_no_form_is_run_twice(tmp_path: Path) -> None:
    """Of two forms each of which leads to the other the search ends."""
    before, after = "a = b\nc = d\n", "a = b.to(e)\nc = d.to(f)\n"
    (tmp_path / "train.py").write_text(before)
    ran: list[str] = []

    class Passes:
        workspace = Workspace(tmp_path, tmp_path)

        def run(self, texts: Mapping[str, str], terms: object) -> Any:
            ran.append(texts.get("train.py", before))
            return SimpleNamespace(passed=True)

        def aim(self, name: str, **values: object) -> None:
            pass

    proven = SimpleNamespace(level="proven")
    every = SimpleNamespace(prove=lambda *_: proven)
    polish = Polish(Passes(), 1, every)  # type: ignore[arg-type]
    forms = {"a = b\nc = d.to(f)\n": [after], after: ["a = b\nc = d.to(f)\n"]}

    def other(patches: Mapping[str, Patch]) -> Iterator[Trimmed]:
        for text in forms.get(patches["train.py"].after, ()):
            yield Trimmed({"train.py": text}, "train.py", "")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("diagnose.repair.refinement.polish.trimmed", other)
        node, _ = polish.trimmed(Node((), {"train.py": after}, None), proven)  # type: ignore[arg-type]
    assert ran == ["a = b\nc = d.to(f)\n"]
    assert node.texts["train.py"] == "a = b\nc = d.to(f)\n"
