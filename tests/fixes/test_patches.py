"""The edit of the user's own line: the right operand, the right device, and nothing when unsure."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.fixes.patches import EDITS, patch
from diagnose.model import Failure, Frame, Mismatch, Report


def edited(
    kind: str,
    code: str,
    devices: tuple[str, ...] = ("cuda:0", "cpu"),
    argument: str | None = None,
) -> str | None:
    report = Report(
        "-", Failure("RuntimeError", "..."), Mismatch(devices, None, argument, "some.wording")
    )
    diff = patch(kind, Frame("pkg/model.py", 7, "forward", code), report)
    return diff and diff.splitlines()[-1].removeprefix("+")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("cur[0][i, :] += delta", "cur[0][i, :] += delta.to(cur[0].device)"),
        ("x = x + self.pe[:, : x.size(1)]", "x = x + self.pe[:, : x.size(1)].to(x.device)"),
        ("return (x - self.mean) / self.std", "return (x - self.mean.to(x.device)) / self.std"),
        ("t = (q * cos) + (turn(q) * sin)", "t = (q * cos.to(q.device)) + (turn(q) * sin)"),
        ("loss = a + b + c", "loss = a + b.to(a.device) + c.to(a.device)"),
        ("y = (a + b) @ w", "y = (a + b.to(a.device)) @ w"),
    ],
)
def test_the_stray_operand_follows_the_other(code: str, expected: str) -> None:
    assert edited("move-tensor-at-line", code) == expected


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        (("cpu", "cuda:0"), "m = torch.cat([p.to(m.device), m], 1)"),
        (("cuda:0", "cpu"), "m = torch.cat([p, m.to(p.device)], 1)"),
    ],
)
def test_the_message_says_which_element_of_a_list_is_misplaced(
    devices: tuple[str, ...], expected: str
) -> None:
    assert edited("move-tensor-at-line", "m = torch.cat([p, m], 1)", devices) == expected


@pytest.mark.parametrize(
    ("argument", "code", "expected"),
    [
        ("target", "loss = criterion(out, y)", "loss = criterion(out, y.to(out.device))"),
        (
            "weight",
            "l = F.cross_entropy(out, y, weight=self.w)",
            "l = F.cross_entropy(out, y, weight=self.w.to(out.device))",
        ),
        ("index", "p = logp.gather(-1, ids)", "p = logp.gather(-1, ids.to(logp.device))"),
    ],
)
def test_the_argument_that_the_message_names_moves(argument: str, code: str, expected: str) -> None:
    assert edited("move-tensor-at-line", code, argument=argument) == expected


@pytest.mark.parametrize(
    ("kind", "code", "expected"),
    [
        ("index-to-device", "w = table[ids]", "w = table[ids.to(table.device)]"),
        ("create-on-device", "y = x * torch.ones(3)", "y = x * torch.ones(3, device=x.device)"),
        ("create-on-device", "y = x * torch.Tensor([1])", "y = x * torch.Tensor([1]).to(x.device)"),
        ("use-like-device-of-other", "h = f(x, z.to('cuda'))", "h = f(x, z.to(x.device))"),
        ("cpu-before-numpy", "y = x.detach().numpy()", "y = x.detach().cpu().numpy()"),
        ("cpu-before-numpy", "y = np.array(x)", "y = np.array(x.detach().cpu().numpy())"),
        ("map-location", "s = torch.load(p)", 's = torch.load(p, map_location="cpu")'),
        ("no-to-on-quantized", "model = model.to(device)", "model = model"),
        ("drop-device-map", 'm = load(p, device_map="auto", x=1)', "m = load(p, x=1)"),
        (
            "pin-device-map",
            'm = load(p, device_map="auto")',
            'm = load(p, device_map={"": torch.cuda.current_device()})',
        ),
        ("move-input", "out = model(ids)", "out = model(ids.to(next(model.parameters()).device))"),
    ],
)
def test_each_kind_of_fix_makes_its_edit(kind: str, code: str, expected: str) -> None:
    assert edited(kind, code) == expected


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("move-tensor-at-line", "return self.layer(x)"),
        ("move-tensor-at-line", "y = 2 * 3"),
        ("map-location", "s = torch.load(p, map_location=device)"),
        ("create-on-device", "y = torch.ones(3)"),
        ("upgrade-library", "y = a + b"),
        ("move-tensor-at-line", "this is not python"),
    ],
)
def test_no_patch_where_the_line_does_not_show_enough(kind: str, code: str) -> None:
    assert edited(kind, code) is None


def test_the_diff_applies_to_the_file(tmp_path: Path) -> None:
    source = "def forward(self, x):\n    x = x + self.pe\n    return x\n"
    (tmp_path / "model.py").write_text(source)
    report = Report(
        "-", Failure("RuntimeError", "..."), Mismatch(("cuda:0", "cpu"), None, None, "w")
    )
    frame = Frame("model.py", 2, "forward", "    x = x + self.pe")
    diff = patch("move-tensor-at-line", frame, report)
    assert diff is not None
    subprocess.run(
        ["git", "apply", "--unidiff-zero", "-"], input=diff, text=True, cwd=tmp_path, check=True
    )
    assert "    x = x + self.pe.to(x.device)\n" in (tmp_path / "model.py").read_text()


NAMES = st.sampled_from(["a", "b.c", "self.w", "x[0]", "f(y)", "batch['ids']", "2", "(p - q)"])


@given(st.sampled_from(sorted(EDITS)), NAMES, NAMES, st.sampled_from(["+", "@", "*", "-"]))
def test_an_edited_line_is_still_python(kind: str, left: str, right: str, operator: str) -> None:
    changed = edited(kind, f"out = {left} {operator} {right}")
    if changed is not None:
        ast.parse(changed)


@given(st.sampled_from(sorted(EDITS)), st.text(max_size=80))
def test_hostile_lines_do_no_harm(kind: str, code: str) -> None:
    changed = edited(kind, code)
    assert changed is None or "\n" not in changed
