"""``diagnose fix SCRIPT``: edits a copy of the program until it runs on simulated GPUs, and proves it."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click

from diagnose.commands.programs import Started, script_file, started
from diagnose.commands.remember import offer
from diagnose.commands.shared import GPUS, LANG, BadInput, text_or_json
from diagnose.commands.shared import output as output_option
from diagnose.errors import FOUND, DiagnoseError
from diagnose.model import Lang
from diagnose.outputs import is_terminal, write
from diagnose.preload import warm
from diagnose.processes import end_by
from diagnose.repair.application import apply
from diagnose.repair.model import LEVELS, Level, Limits, Program, Proof, Repair
from diagnose.repair.output import as_json, lines
from diagnose.repair.runs.landlock import version as contains
from diagnose.repair.runs.runner import Runner
from diagnose.repair.synthesis.candidates import of_log
from diagnose.repair.words import say
from diagnose.repair.workspace import Workspace
from diagnose.simulation import TorchMissingError

#: Outcomes after which nothing is wrong, unless a proof fails.
_RIGHT = frozenset({"repaired", "nothing-to-fix"})
#: As a shell says that a program was stopped from the keyboard.
INTERRUPTED = 130


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
    help="Start with the fixes suggested by this traceback or log.",
)
@output_option("Write the diff to FILE.")
@click.option("--apply", "write_back", is_flag=True, help="Edit the files, with a backup of each.")
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    default="proven",
    show_default=True,
    help="Minimum level of proof required by --apply.",
)
@text_or_json("Form of the answer.")
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
    """Fix device-placement errors in SCRIPT and verify the fix. No GPU needed.

    The script runs on simulated GPUs, several times, in a copy of its folder. What an answer would edit
    is edited there, one mistake after the other, until the script runs to its end; then it is compared
    with the script as it was without device checks. Your files stay as they are, unless --apply.

    Exit status: 0 fixed and proven, or nothing to fix; 1 not fixed, not proven or not reproducible here;
    2 bad usage, 4 internal error.
    """
    program = _program(started(script, args, module), processes)
    end_by(signal.SIGTERM)  # the copies go then, too
    if not contains():
        click.echo(f"diagnose: {say(lang, 'not-contained')}", err=True)
    with tempfile.TemporaryDirectory(prefix="diagnose-fix-", ignore_cleanup_errors=True) as home:
        workspace = Workspace(program.origin, Path(home).resolve(), _notebooks(program))
        progress = _progress()
        try:
            warm(program.folder / _file(program))
            from diagnose.repair.search import Search  # which imports torch

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
        if (
            write_back
            and repair.proof is not None
            and _apply(repair, repair.proof, level, workspace)
        ):
            offer(repair.diff, log, lang)
    proven = repair.proof is None or repair.proof.level == "proven"
    sys.exit(0 if proven and repair.outcome in _RIGHT else FOUND)


def _program(words: Started, processes: int) -> Program:
    """What is to be run: from the current folder, where the script lies in it, else from its own."""
    here = Path.cwd().resolve()
    processes = words.processes if words.launcher else processes
    if words.module:
        stem = Path(*words.script.split("."))
        files = (stem.with_suffix(".py"), stem / "__main__.py")
        if not any((here / one).is_file() for one in files):
            raise BadInput(f"there is no module {words.script} in {here}")
        return Program(here, here, words.script, words.args, True, processes)
    path = Path(words.script)
    if words.script == "-" or path.is_fifo():
        raise BadInput("the script has to be a file: it is run several times")
    path = script_file(path).resolve()
    inside = path.is_relative_to(here)
    folder = here if inside else path.parent
    script = str(path.relative_to(here)) if inside else path.name
    return Program(folder, folder, script, words.args, False, processes)


def _notebooks(program: Program) -> tuple[str, ...]:
    path = program.folder / program.script
    return (str(path.relative_to(program.origin)),) if path.suffix == ".ipynb" else ()


def _file(program: Program) -> str:
    return program.script.replace(".", "/") + ".py" if program.module else program.script


def _apply(repair: Repair, proof: Proof, level: Level, workspace: Workspace) -> bool:
    """Edits the user's files, where the repair is as sure as it has to be; whether any was."""
    if LEVELS.index(proof.level) < LEVELS.index(level):
        click.echo(
            f"diagnose: nothing was written: --apply asks for {level}"
            f" (--level {proof.level} takes this one)",
            err=True,
        )
        return False
    try:
        backups = apply(workspace, repair.texts)
        for backup in backups:
            click.echo(f"diagnose: edited; as it was: {backup}", err=True)
        return bool(backups)
    except DiagnoseError as error:
        raise BadInput(str(error)) from error


#: Where it is no terminal, a run is told after so many seconds: a log shall not be full of them.
_EVERY = 5.0


def _progress(clock: Callable[[], float] = time.monotonic) -> Callable[[str], object]:
    """Says what is done: on a terminal in one line that goes away, elsewhere in a line now and then."""
    if not is_terminal(sys.stderr) or os.environ.get("TERM") == "dumb":
        due = clock()

        def tell(sentence: str) -> None:
            nonlocal due
            if sentence and clock() >= due:
                due = clock() + _EVERY
                click.echo(f"diagnose: {sentence}", err=True)

        return tell
    return lambda sentence: print(f"\r\x1b[K{sentence[:78]}", end="", file=sys.stderr, flush=True)
