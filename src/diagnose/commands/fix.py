"""``diagnose fix SCRIPT``: edits a copy of the program until it runs on simulated GPUs, and proves it."""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from diagnose.commands.shared import GPUS, LANG, BadInput
from diagnose.errors import DiagnoseError
from diagnose.model import Lang
from diagnose.outputs import write
from diagnose.processes import end_by
from diagnose.repair.application import apply
from diagnose.repair.model import LEVELS, Level, Program, Proof, Repair
from diagnose.repair.output import as_json, lines
from diagnose.repair.runs.landlock import version as contains
from diagnose.repair.runs.preload import warm
from diagnose.repair.runs.runner import Runner
from diagnose.repair.search import Limits, Search
from diagnose.repair.synthesis.candidates import of_log
from diagnose.repair.words import say
from diagnose.repair.workspace import Workspace
from diagnose.simulation import TorchMissingError

#: Exit statuses beside those of bad usage (2) and a fault of ours (4).
STATUS = {"repaired": 0, "not-repaired": 1, "nothing-to-fix": 3, "not-reproducible": 6}
NOT_PROVEN = 5
#: As a shell says that a program was stopped from the keyboard.
INTERRUPTED = 130

_PYTHON = re.compile(r"python[\d.]*")
#: What starts several processes and is understood, as a command or a module; and what is not.
_LAUNCHERS = frozenset({"torchrun", "torch.distributed.run", "torch.distributed.launch"})
_OTHERS = frozenset({"accelerate", "deepspeed", "mpirun", "srun", "horovodrun"})


@click.command(
    "fix",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@GPUS
@click.option("-m", "module", is_flag=True, help="SCRIPT is a module, as for python -m.")
@click.option(
    "--processes",
    type=click.IntRange(1, 64),
    default=1,
    metavar="N",
    help="Start N processes, as torchrun does; or put torchrun and its options before SCRIPT.",
)
@click.option(
    "--from",
    "log",
    type=click.Path(exists=True, dir_okay=False),
    metavar="LOG",
    help="Try first what a traceback or log speaks for.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the diff to FILE.",
)
@click.option("--apply", "write_back", is_flag=True, help="Edit the files, with a backup of each.")
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    default="proven",
    show_default=True,
    help="What --apply asks for.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@LANG
@click.option(
    "--timeout",
    type=click.FloatRange(1),
    default=300,
    show_default=True,
    metavar="S",
    help="Seconds that a run may take.",
)
@click.option(
    "--tries",
    type=click.IntRange(1),
    default=Limits().tries,
    show_default=True,
    help="How many edits are tried.",
)
@click.option(
    "--alternatives",
    is_flag=True,
    help="Look for less that is proven, too: without a part of the edits, one in place of several.",
)
@click.option(
    "--writable",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    metavar="DIR",
    help="Where else the script may write; its copy and temporary folders always.",
)
@click.argument("script")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def fix(
    gpus: int,
    module: bool,
    processes: int,
    log: str | None,
    output: Path | None,
    write_back: bool,
    level: Level,
    form: str,
    lang: Lang,
    timeout: float,
    tries: int,
    alternatives: bool,
    writable: tuple[Path, ...],
    script: str,
    args: tuple[str, ...],
) -> None:
    """Repair SCRIPT, which fails of a device placement, and prove it without a GPU.

    The script runs on simulated GPUs, several times, in a copy of its folder. What an answer would edit
    is edited there, one mistake after the other, until the script runs to its end; then it is compared
    with the script as it was without device checks. Your files stay as they are, unless --apply.

    \b
    Exit status: 0 repaired and proven, 5 repaired and not proven, 1 not repaired, 3 nothing to fix,
    6 not reproducible here, 2 bad usage, 4 a fault of diagnose.
    """
    program = _started(script, args, module, processes)
    end_by(signal.SIGTERM)  # the copies go then, too
    if not contains():
        click.echo(f"diagnose: {say(lang, 'not-contained')}", err=True)
    with tempfile.TemporaryDirectory(prefix="diagnose-fix-", ignore_cleanup_errors=True) as home:
        workspace = Workspace(program.origin, Path(home).resolve(), _notebooks(program))
        progress = _progress()
        try:
            warm(program.folder / _file(program))
            runner = Runner(program, workspace, timeout, writable, lang, progress)
            proposed = of_log(log, workspace, lang) if log is not None else ()
            limits = Limits(tries=tries)
            repair = Search(runner, gpus, limits, alternatives=alternatives).repair(proposed)
        except TorchMissingError as error:
            raise click.UsageError(str(error)) from error
        except KeyboardInterrupt:
            progress("")
            click.echo("diagnose: stopped; your files are as they were", err=True)
            sys.exit(INTERRUPTED)
        progress("")
        if form == "json":
            click.echo(as_json(repair, program, gpus, lang))
        else:
            from_log = proposed[0].patch if proposed else ""
            for line in lines(repair, program, gpus, from_log=from_log, lang=lang):
                click.echo(line)
        if output is not None and repair.diff:
            write(repair.diff, output)
        if write_back and repair.proof is not None:
            _apply(repair, repair.proof, level, workspace)
    good = repair.proof is None or repair.proof.level == "proven"
    sys.exit(STATUS[repair.outcome] if good else NOT_PROVEN)


def _started(script: str, args: tuple[str, ...], module: bool, processes: int) -> Program:
    """What the words of a command line start, ``python`` and ``torchrun`` before the script or not."""
    if not module and _PYTHON.fullmatch(script) and args:
        module = args[0] == "-m"
        script, *rest = args[1:] if module else args
        args = tuple(rest)
    if script in _LAUNCHERS and (module or not Path(script).is_file()):
        return _launched(args)
    if script in _OTHERS and not Path(script).is_file():
        raise click.UsageError(
            f"diagnose fix starts the processes itself: torchrun --nproc-per-node N SCRIPT in place"
            f" of {script}"
        )
    return _program(script, args, module)._replace(processes=processes)


def _program(script: str, args: tuple[str, ...], module: bool) -> Program:
    """What is to be run: from the current folder, where the script lies in it, else from its own."""
    here = Path.cwd().resolve()
    if module:
        stem = Path(*script.split("."))
        if not any(
            (here / one).is_file() for one in (stem.with_suffix(".py"), stem / "__main__.py")
        ):
            raise BadInput(f"there is no module {script} in {here}")
        return Program(here, here, script, args, module=True)
    path = Path(script)
    if script == "-" or path.is_fifo():
        raise BadInput("the script has to be a file: it is run several times")
    if not path.is_file():
        raise BadInput(f"there is no script {script}")
    path = path.resolve()
    if path.is_relative_to(here):
        return Program(here, here, str(path.relative_to(here)), args)
    return Program(path.parent, path.parent, path.name, args)


def _launched(words: tuple[str, ...]) -> Program:
    """What torchrun starts, by torch's own reading of its command line."""
    try:
        from torch.distributed.run import parse_args
    except ImportError as error:
        raise click.UsageError("torchrun needs torch") from error
    found: Any = parse_args(words)  # type: ignore[no-untyped-call]
    if not str(found.nproc_per_node).isdigit():
        raise click.UsageError("--nproc-per-node has to be a number here")
    program = _program(found.training_script, tuple(found.training_script_args), found.module)
    return program._replace(processes=int(found.nproc_per_node))


def _notebooks(program: Program) -> tuple[str, ...]:
    path = program.folder / program.script
    return (str(path.relative_to(program.origin)),) if path.suffix == ".ipynb" else ()


def _file(program: Program) -> str:
    return program.script.replace(".", "/") + ".py" if program.module else program.script


def _apply(repair: Repair, proof: Proof, level: Level, workspace: Workspace) -> None:
    """Edits the user's files, where the repair is as sure as it has to be."""
    if LEVELS.index(proof.level) < LEVELS.index(level):
        click.echo(
            f"diagnose: nothing was written: --apply asks for {level}"
            f" (--level {proof.level} takes this one)",
            err=True,
        )
        return
    try:
        for backup in apply(workspace, repair.texts):
            click.echo(f"diagnose: edited; as it was: {backup}", err=True)
    except DiagnoseError as error:
        raise BadInput(str(error)) from error


#: Where it is no terminal, a run is told after so many seconds: a log shall not be full of them.
_EVERY = 5.0


def _progress(clock: Callable[[], float] = time.monotonic) -> Callable[[str], object]:
    """Says what is done: on a terminal in one line that goes away, elsewhere in a line now and then."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        due = clock()

        def tell(sentence: str) -> None:
            nonlocal due
            if sentence and clock() >= due:
                due = clock() + _EVERY
                click.echo(f"diagnose: {sentence}", err=True)

        return tell
    return lambda sentence: print(f"\r\x1b[K{sentence[:78]}", end="", file=sys.stderr, flush=True)
