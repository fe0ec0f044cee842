"""Printed source lines are parsed as far as they show, and never change on the way."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.casebase.store import Casebase
from diagnose.scene import calls, sourceline


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = x + self.pe[:, : x.size(1)]", ["x", "self.pe[:, : x.size(1)]"]),
        ("cur_out[0][i, idx, :] += delta", ["cur_out[0][i, idx, :]", "delta"]),
        ("h = F.conv2d(h, self.weight,", ["h", "self.weight"]),
        ("padding=self.size // 2,", ["self.size", "2"]),
        ("elif x.cuda() > 1:", ["x.cuda()", "1"]),
        ("x = torch.cat((a, b[0]), dim=1)", ["a", "b[0]"]),
        ("with amp.autocast(), model.hold(a, b):", ["a", "b"]),
    ],
)
def test_operands_of_whole_and_cut_lines(code: str, expected: list[str]) -> None:
    line = sourceline.parse(code)
    assert line is not None
    assert [line.segment(node) for node in sourceline.operands(line)] == expected


@pytest.mark.parametrize("code", ["", None, "a b", "no python at all", "x" * 5000, "a\nb"])
def test_what_is_no_python_gives_none(code: str | None) -> None:
    assert sourceline.parse(code) is None


@pytest.mark.parametrize(
    ("code", "makes"),
    [
        ("torch.zeros(3)", True),
        ("torch.zeros(3, device=x.device)", False),
        ("torch.zeros_like(x)", False),
        ("np.zeros(3)", False),
        ("torch.Tensor([1, 2])", True),
    ],
)
def test_factories_without_a_device(code: str, makes: bool, casebase: Casebase) -> None:
    node = ast.parse(code, mode="eval").body
    assert calls.makes_tensor(node, casebase.knowledge.torch) is makes


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("x.cuda()", True),
        ("x.cuda(1)", True),
        ("x.cuda(device)", False),
        ("x.to('cuda:0')", True),
        ("x.to(device)", False),
        ("make(device=0)", True),
        ("open('cudart')", False),
    ],
)
def test_fixed_devices_in_a_line(code: str, names: bool, casebase: Casebase) -> None:
    torch, nodes = casebase.knowledge.torch, ast.walk(ast.parse(code))
    assert any(calls.names_device(node, torch) for node in nodes) is names


@given(st.text(max_size=120))
def test_any_text_is_parsed_or_refused_and_segments_stand_in_it(text: str) -> None:
    line = sourceline.parse(text)
    if line is not None:
        for node in sourceline.operands(line):
            assert line.segment(node) in line.text


@pytest.mark.parametrize("code", [r'x = re.sub("\d", "", y)', "if x is 1:", "1or x", '"a" is b'])
def test_what_python_thinks_of_a_line_is_not_printed(code: str) -> None:
    """In a process of its own: pytest sets the filters of warnings for each test."""
    program = f"from diagnose.scene.sourceline import parse\nassert parse({code!r}) is not None"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
