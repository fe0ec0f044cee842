"""Running a user's script on simulated GPUs as the interpreter would run it."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from os import PathLike
from pathlib import Path
from types import ModuleType

from . import CHECKED, Terms, Wording, simulated_gpus, strip_simulator_frames

GPUS_VARIABLE = "DIAGNOSE_SIMULATED_GPUS"
"""Environment variable that tells a script on how many simulated GPUs it runs."""


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
    """Run a script as `__main__`; see `diagnose.simulation.run_script`."""
    script, package = _module(os.fspath(path)) if module else (os.fspath(path), None)
    source = Path(script).read_bytes()
    with (
        nullcontext() if gpus is None else simulated_gpus(gpus, wording=wording, terms=terms),
        _interpreter_for(script, args, gpus, env or {}, package) as (namespace),
        beside(),
    ):
        return _status_of(source, script, namespace, failed)


def _module(name: str) -> tuple[str, str]:
    """The file of a module in the current folder, as ``python -m`` finds it, and its package."""
    path = Path(*name.split("."))
    for file, package in ((path / "__main__.py", name), (path.with_suffix(".py"), name)):
        if file.is_file():
            return str(file.absolute()), package if file.stem == "__main__" else name.rpartition(
                "."
            )[0]
    raise FileNotFoundError(f"there is no module {name} in this folder")


def _status_of(
    source: bytes,
    script: str,
    namespace: dict[str, object],
    failed: Callable[[BaseException], object],
) -> int:
    try:
        # As Python does: tracebacks and ``__file__`` hold the absolute path, ``sys.argv`` what was typed.
        exec(compile(source, str(Path(script).absolute()), "exec", dont_inherit=True), namespace)
    except SystemExit as error:
        return _exit_status(error)
    except BaseException as error:
        strip_simulator_frames(error)
        _report(error)
        failed(error)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _exit_status(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1


def _report(error: BaseException) -> None:
    """Do what the interpreter does with an exception that nobody caught."""
    sys.stdout.flush()
    if sys.excepthook is sys.__excepthook__:
        traceback.print_exception(error)
        return
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except BaseException as broken:
        print("Error in sys.excepthook:", file=sys.stderr)
        traceback.print_exception(broken)
        print("\nOriginal exception was:", file=sys.stderr)
        traceback.print_exception(error)


@contextmanager
def _interpreter_for(
    script: str, args: Sequence[str], gpus: int | None, env: Mapping[str, str], package: str | None
) -> Iterator[dict[str, object]]:
    """Set up argv, sys.path, `__main__` and the environment, and put them back."""
    main = ModuleType("__main__")
    main.__file__ = str(Path(script).absolute())
    main.__package__ = package
    main.__builtins__ = __builtins__  # type: ignore[attr-defined]
    saved = sys.argv, sys.path[:], sys.modules["__main__"], sys.excepthook, os.environ.copy()
    sys.argv = [script, *args]
    folder = Path(script).resolve().parent if package is None else Path.cwd()
    sys.path.insert(0, str(folder))
    sys.modules["__main__"] = main
    sys.excepthook = sys.__excepthook__
    if gpus is not None:
        os.environ[GPUS_VARIABLE] = str(gpus)
    os.environ.update(env)
    try:
        yield vars(main)
    finally:
        sys.argv, sys.path[:], sys.modules["__main__"], sys.excepthook, environment = saved
        os.environ.clear()
        os.environ.update(environment)
