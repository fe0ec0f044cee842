"""Work in processes of its own leaves neither a process nor a thread behind."""

from __future__ import annotations

import multiprocessing
import os
import threading

import pytest

from diagnose.pool import each


def _no_result(item: int, reason: str) -> int:
    raise AssertionError(f"{item} died: {reason}")


@pytest.mark.parametrize("left_early", [False, True])
def test_nothing_runs_on_once_the_work_is_done_or_given_up(left_early: bool) -> None:
    """A pool's thread that outlives it writes to closed pipes while the interpreter ends."""
    before = set(threading.enumerate())
    results = each(abs, range(-6, 0), 2, _no_result)
    if left_early:
        next(results)
        results.close()
    else:
        assert dict(results) == {-n: n for n in range(1, 7)}
    assert set(threading.enumerate()) == before
    assert multiprocessing.active_children() == []


def test_an_item_that_kills_its_process_is_told_and_the_others_are_done() -> None:
    done = dict(each(_dies_of_three, range(5), 2, lambda item, reason: f"{item} died"))
    assert done == {0: "0", 1: "1", 2: "2", 3: "3 died", 4: "4"}


def _dies_of_three(item: int) -> str:
    if item == 3:
        os._exit(1)
    return str(item)
