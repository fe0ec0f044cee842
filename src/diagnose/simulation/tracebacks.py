"""Tracebacks as CUDA would print them: without the frames of the simulator.

Python adds a frame to a traceback whenever an exception passes it, so frames cannot be kept out
while the error is on its way; they are taken out where somebody looks: when the exception leaves
`simulated_gpus`, and when anything renders it through the standard library's `traceback`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from .patches import Patches

#: Folders whose frames nobody is shown.
_HIDDEN = [str(Path(__file__).parent).replace("\\", "/")]
# What stands between a simulator's frame and the operator it calls.
_PLUMBING = (
    "torch/_ops.py",
    "torch/_compile.py",
    "torch/_dynamo/eval_frame.py",
    "torch/overrides.py",
    "torch/autograd/function.py",
    "torch/utils/_python_dispatch.py",
    "torch/utils/_contextlib.py",
)
_INTERCEPTS = str(Path("torch", "overrides.py"))


def strip_simulator_frames(error: BaseException) -> None:
    """Take the simulator's frames out of the traceback of `error` and of the errors behind it."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        current.__traceback__ = _stripped(current.__traceback__)
        waiting += [current.__cause__, current.__context__]
        waiting += getattr(current, "exceptions", ())


def _stripped(head: TracebackType | None) -> TracebackType | None:
    steps: list[TracebackType] = []
    while head is not None:
        steps.append(head)
        head = head.tb_next
    kept: list[TracebackType] = []
    after_simulator = False
    for at, step in enumerate(steps):
        file = step.tb_frame.f_code.co_filename.replace("\\", "/")
        ours = _is_simulator(file) or (after_simulator and file.endswith(_PLUMBING))
        if not ours:
            kept.append(step)
        elif not after_simulator:
            _drop_interception(kept, steps[at + 1 :])
        after_simulator = ours
    if not kept:
        return None
    for this, following in zip(kept, [*kept[1:], None], strict=True):
        this.tb_next = following
    return kept[0]


def _drop_interception(kept: list[TracebackType], after: Sequence[TracebackType]) -> None:
    """Takes off what stands above a mode of ours: torch's frame that asked it, and the Python function that
    was intercepted, for it runs again below."""
    if not kept or not kept[-1].tb_frame.f_code.co_filename.endswith(_INTERCEPTS):
        return
    kept.pop()
    following = next((s for s in after if not _is_simulator(s.tb_frame.f_code.co_filename)), None)
    if kept and following is not None and kept[-1].tb_frame.f_code is following.tb_frame.f_code:
        kept.pop()


def _is_simulator(file: str) -> bool:
    return file.startswith(tuple(_HIDDEN))


def hide(folder: str) -> None:
    """Frames of another folder are taken out too, as long as this process lives."""
    if folder not in _HIDDEN:
        _HIDDEN.append(folder.replace("\\", "/"))


def stripping(render: Callable[..., None]) -> Callable[..., None]:
    """`traceback.TracebackException.__init__` that sees the stripped traceback."""

    def __init__(
        self: Any, exc_type: Any, exc_value: Any, exc_traceback: Any, **options: Any
    ) -> None:
        if isinstance(exc_value, BaseException):
            strip_simulator_frames(exc_value)
        render(self, exc_type, exc_value, _stripped(exc_traceback), **options)

    return __init__


def install(patches: Patches) -> None:
    """Let everything that renders a traceback see the stripped one."""
    import traceback  # most processes with the hook never render one

    patches.set(
        traceback.TracebackException, "__init__", stripping(traceback.TracebackException.__init__)
    )
