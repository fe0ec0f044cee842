"""What a command line starts: a script or a module, ``python`` or ``torchrun`` before it or not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import click

from diagnose.commands.shared import BadInput

_PYTHON = re.compile(r"python[\d.]*")
#: What starts several processes and is understood, as a command or a module.
_TORCHRUN = frozenset({"torchrun", "torch.distributed.run", "torch.distributed.launch"})
#: What starts several processes on a cluster's or a library's terms.
_OTHERS = frozenset({"accelerate", "deepspeed", "mpirun", "srun", "horovodrun"})


class Started(NamedTuple):
    """A script, or a module where ``module``, its arguments, and what a launcher makes of it: how many
    ``processes``, and the launcher's own words, none where there is none."""

    script: str
    args: tuple[str, ...] = ()
    module: bool = False
    processes: int = 1
    launcher: tuple[str, ...] = ()


def started(script: str, args: tuple[str, ...], module: bool = False) -> Started:
    """Reads the words of a command line.

    Args:
        script: the first word: a script, a module, ``python`` or a launcher.
        args: the words after it.
        module: the first word is a module's name.

    Raises:
        click.UsageError: no script is named, a launcher that is not understood stands there, or torchrun
            without torch.
    """
    script, args, module, *_ = without_python(script, args, module)
    if script in _TORCHRUN and (module or not Path(script).is_file()):
        return _launched(args)
    if script in _OTHERS and not Path(script).is_file():
        raise click.UsageError(
            f"{script} is not understood here: write torchrun --nproc-per-node N SCRIPT in its place"
        )
    return Started(script, args, module)


def without_python(script: str, args: tuple[str, ...], module: bool = False) -> Started:
    """The words of a command line without ``python`` or ``python -m`` before them; a launcher is a script
    or a module like any other. Raises click.UsageError where no script is named."""
    if args and not module and _PYTHON.fullmatch(script):
        module = args[0] == "-m"
        script, *rest = args[module:] or ("",)
        args = tuple(rest)
    return _named(Started(script, args, module))


def is_launcher(word: str) -> bool:
    """Whether the first word starts other programs, and is no file of that name."""
    return (word in _TORCHRUN or word in _OTHERS) and not Path(word).is_file()


def script_file(path: Path) -> Path:
    """The path, where a script lies. Raises `BadInput` where none does."""
    if path.is_file():
        return path
    raise BadInput(f"there is no script {path}")


def _launched(words: tuple[str, ...]) -> Started:
    """What torchrun starts, by torch's own reading of its command line."""
    try:
        from torch.distributed.run import parse_args
    except ImportError as error:
        raise click.UsageError("torchrun needs torch") from error
    found: Any = parse_args(words)  # type: ignore[no-untyped-call]
    if not str(found.nproc_per_node).isdigit():
        raise click.UsageError("--nproc-per-node has to be a number here")
    args = tuple(found.training_script_args)
    own = words[: len(words) - len(args) - 1]
    processes = int(found.nproc_per_node)
    return _named(Started(found.training_script, args, found.module, processes, own))


def _named(words: Started) -> Started:
    """The words, which name a script or a module. Raises click.UsageError where they do not."""
    if not words.script.strip("." if words.module else None):
        raise click.UsageError("name a module after -m" if words.module else "name a script")
    return words
