"""kb/aten.toml is what torch declares, and kb/torch.toml repeats none of it."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch

from diagnose.casebase.store import load

ROOT = Path(__file__).parents[2]
FILE = ROOT / "kb" / "aten.toml"


def test_the_file_is_what_torch_declares() -> None:
    pytest.importorskip("yaml")
    text = FILE.read_text(encoding="utf-8")
    version = torch.__version__.partition("+")[0]
    if f"of torch {version}:" not in text:
        pytest.skip(f"written from another torch than {version}")
    script = runpy.run_path(str(ROOT / "scripts" / "aten.py"))
    assert script["written"](*script["declared"]()) == text


@pytest.mark.parametrize(
    ("name", "lists"),
    [
        ("cat", {"operations", "joins"}),
        ("topk", {"operations", "several_results"}),
        ("mse_loss", {"operations", "losses"}),
        ("logsumexp", {"operations", "reductions"}),
        ("uniform", {"operations"}),  # only in place
        ("airy_ai", {"operations"}),  # special_airy_ai
        ("median", {"operations", "reductions"}),  # in torch.toml
        ("cross_entropy", {"operations", "losses"}),  # in torch.toml
        ("zeros", set()),
    ],
)
def test_the_analysis_knows_both(name: str, lists: set[str]) -> None:
    names = load().knowledge.torch
    keys = ("operations", "joins", "several_results", "losses", "reductions")
    assert {key for key in keys if name in getattr(names, key)} == lists
