"""A pytest plugin: takes the simulator's frames out of failures, as they would not be there on GPUs."""

from __future__ import annotations

import pytest

from diagnose.simulation import strip_simulator_frames


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    if call.excinfo is not None:
        strip_simulator_frames(call.excinfo.value)
        call.excinfo = pytest.ExceptionInfo.from_exception(call.excinfo.value)
