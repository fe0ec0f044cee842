"""Fixtures of the simulated-GPU tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("torch")

from diagnose.simulation import simulated_gpus


@pytest.fixture
def gpus() -> Iterator[None]:
    """Two simulated GPUs, with the sentences of torch 2.8 and later."""
    with simulated_gpus(2):
        yield


@pytest.fixture
def old_gpus() -> Iterator[None]:
    """Two simulated GPUs, with the sentences of torch before 2.8."""
    with simulated_gpus(2, wording="old"):
        yield
