"""Failures in processes that a program forks: what is alive there is looked at there."""

from __future__ import annotations

import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch.multiprocessing as mp

from diagnose.repair.runs.children import Children

SPAWN: Any = import_module("torch.multiprocessing.spawn")


def _works(rank: int, size: int) -> None:
    rows = list(range(size))
    if rank == 1:
        raise RuntimeError(f"{rows} are elsewhere")


def _looked_at(error: BaseException) -> dict[str, Any]:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return {"rows": trace.tb_frame.f_locals["rows"] if trace else None}


def test_what_a_process_sees_is_told_with_its_failure(tmp_path: Path) -> None:
    children = Children(tmp_path / "run", _looked_at)
    with children.watching(), pytest.raises(mp.ProcessRaisedException) as raised:
        mp.start_processes(_works, args=(3,), nprocs=2, start_method="fork")
    assert "RuntimeError: [0, 1, 2] are elsewhere" in str(raised.value)
    assert children.told(raised.value) == {"rows": [0, 1, 2]}


def test_other_failures_were_told_by_nobody(tmp_path: Path) -> None:
    children = Children(tmp_path / "run", _looked_at)
    assert children.told(RuntimeError("elsewhere")) is None


def test_a_process_that_is_not_forked_runs_as_without(tmp_path: Path) -> None:
    plain = SPAWN._wrap
    with Children(tmp_path / "run", _looked_at).watching():
        assert SPAWN._wrap is not plain
        pickled = pickle.dumps(SPAWN._wrap)
    assert SPAWN._wrap is plain
    assert pickle.loads(pickled) is plain
