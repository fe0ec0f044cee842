"""Simulated GPUs: torch code runs on the CPU as if CUDA devices were there, and fails as CUDA would.

    with simulated_gpus(2):
        model = nn.Linear(8, 8).cuda(1)
        model(torch.randn(4, 8, device="cuda:0"))
        # RuntimeError: Expected all tensors to be on the same device, but got mat1 is on cuda:0,
        # different from other tensors on cuda:1 (when checking argument in method wrapper_CUDA_addmm)

How it works. Every tensor stays an ordinary CPU tensor; what makes it a GPU tensor is a label on
its *storage* (`placement`). On real hardware too the device belongs to the storage: views,
`detach()`, `.data` and tied parameters share it, so they share the label without anyone copying
it. A `TorchDispatchMode` (`dispatch`) sees each aten operator below autograd, compares the labels
by the rules of `checks` (the facts are data: kb/operators.toml) and labels what comes out.
`Tensor.device`, `Tensor.to`, `torch.cuda` and their kin are replaced for the time
(`tensors`, `functions`, `driver`, `parallel`).

Why labels, of the ways that exist. A wrapper tensor subclass changes the type of every parameter,
so `Module.to()` makes new ones, ties break and optimizers lose track: failures that CUDA does not
have. Python's PrivateUse1 backend gives C++ a device of its own, but registers it for the life of
the process and works only if autograd's engine has not started before. With labels autograd,
optimizers, pickling, vmap and libraries run on real CPU tensors, and leaving the context undoes
everything. The price: C++ code that compares devices above the dispatcher sees only the CPU, so
those few comparisons are written out again (`functions`), and copies between devices carry their
own autograd function.

The package imports torch only when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from os import PathLike
from typing import Literal, TypeVar

from .terms import CHECKED, Terms
from .tracebacks import strip_simulator_frames

__all__ = [
    "CHECKED",
    "Terms",
    "TorchMissingError",
    "Wording",
    "is_active",
    "require_torch",
    "run_function",
    "run_script",
    "simulated_gpus",
    "strip_simulator_frames",
    "warm_up",
]

Wording = Literal["new", "old"]
"""Torch's sentences of 2.8 and later ("new"), or those of 1.10 to 2.7 ("old")."""

T = TypeVar("T")

LOWEST_TORCH = (2, 13)
"""The oldest torch that the simulator is tested with; it replaces parts that older ones lack or name
otherwise."""
_NEEDED = ".".join(map(str, LOWEST_TORCH))


class TorchMissingError(ImportError):
    """Torch is not installed, or too old, so nothing can be simulated."""


@contextmanager
def simulated_gpus(
    count: int = 2, *, wording: Wording = "new", terms: Terms = CHECKED
) -> Iterator[None]:
    """Make torch see `count` CUDA devices within the context; also usable as a decorator.

    Args:
        count: how many devices, 0 to 64; with 0 torch sees a machine without a GPU.
        wording: which torch's sentences a failed device check uses.
        terms: what else of the machine is otherwise than on real ones.

    Raises:
        TorchMissingError: torch is not installed or too old.
        ValueError: `count` or `wording` is none of the above.
        RuntimeError: simulated GPUs are active already.
    """
    require_torch()
    from .session import Session

    session = Session(count, wording, terms)
    with session:
        try:
            yield
        except BaseException as error:
            strip_simulator_frames(error)
            raise


def warm_up() -> None:
    """Read once what each simulated run needs: processes that are forked later find it read.

    Raises:
        TorchMissingError: torch is not installed or too old.
    """
    require_torch()
    from .kernels.extensions import known_functions
    from .operators import load_rules

    known_functions()
    load_rules()


def is_active() -> bool:
    """Say whether simulated GPUs are in use in this process now."""
    from .patches import Patches

    return Patches.active is not None


def run_script(
    path: str | PathLike[str],
    args: Sequence[str] = (),
    *,
    gpus: int | None = 2,
    wording: Wording = "new",
    env: Mapping[str, str] | None = None,
    terms: Terms = CHECKED,
    beside: Callable[[], AbstractContextManager[object]] = nullcontext,
    failed: Callable[[BaseException], object] = lambda error: None,
    module: bool = False,
) -> int:
    """Run a Python script as `__main__`, on simulated GPUs or on those of this machine, in this process.

    An exception that nobody catches is printed to stderr as the interpreter would, without the
    simulator's frames, or handed to the `sys.excepthook` that the script installed.

    Args:
        path: the script, or a module's name.
        args: its arguments, `sys.argv[1:]`.
        gpus: how many simulated GPUs it sees; None for those of this machine.
        wording: which torch's sentences a failed device check uses.
        env: environment variables to set for the run.
        terms: as in `simulated_gpus`.
        beside: makes a context in which the script runs, once the GPUs are there.
        failed: is called with an exception that nobody caught, when it is printed; the GPUs are still
        there.
        module: whether ``path`` names a module of the current folder, run as ``python -m`` does.

    Returns:
        The exit status that the interpreter would end with.

    Raises:
        TorchMissingError: torch is not installed or too old.
        FileNotFoundError: there is no such script or module.
    """
    if gpus is not None:
        require_torch()
    from .runner import run_script as run

    return run(
        path,
        args,
        gpus=gpus,
        wording=wording,
        env=env,
        terms=terms,
        beside=beside,
        failed=failed,
        module=module,
    )


def run_function(fn: Callable[[], T], *, gpus: int = 2, wording: Wording = "new") -> T:
    """Call `fn` on simulated GPUs and return what it returns.

    Raises:
        TorchMissingError: torch is not installed or too old.
        BaseException: what `fn` raises, without the simulator's frames in its traceback.
    """
    with simulated_gpus(gpus, wording=wording):
        return fn()


@cache
def require_torch() -> None:
    """Raises TorchMissingError unless there is a torch that can be simulated with."""
    # Imported here: the hook's process pays for none of it.
    import re
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec

    if find_spec("torch") is None:
        raise TorchMissingError(f"simulated GPUs need torch {_NEEDED} or later: pip install torch")
    try:
        found = version("torch")
    except PackageNotFoundError:  # torch from a build folder: whoever has that knows its version
        return
    number = re.match(r"(\d+)\.(\d+)", found)
    if number and (int(number[1]), int(number[2])) < LOWEST_TORCH:
        raise TorchMissingError(
            f"simulated GPUs need torch {_NEEDED} or later, and this is torch {found};"
            " a virtual environment of its own leaves the torch of your training as it is"
        )
