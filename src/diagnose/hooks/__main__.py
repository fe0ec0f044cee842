"""``diagnose run SCRIPT [ARGS...]``: a script with the hook in place, otherwise as ``python SCRIPT``.

For launchers that start a module: ``torchrun --nproc-per-node 2 -m diagnose.hooks train.py --epochs 3``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click

#: Holds the sitecustomize module that installs the hook in a starting interpreter.
_STARTUP = Path(__file__).parent / "startup"


@click.command(
    "run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.option(
    "--lang", type=click.Choice(["en", "zh"]), default=None, help="Language of the answer."
)
@click.option("--trace", is_flag=True, help="Remember where tensors are born and moved.")
@click.option("-m", "is_module", is_flag=True, help="SCRIPT is a module, as with `python -m`.")
@click.argument("script")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def run_command(
    lang: str | None, trace: bool, is_module: bool, script: str, args: tuple[str, ...]
) -> None:
    """Run a Python script; if it dies of a device-placement error, the diagnosis follows.

    The script runs as `python SCRIPT ARGS...` would run it, with the same output and exit status.
    Python processes that it starts have the hook too.
    """
    run(["-m", script, *args] if is_module else [script, *args], lang=lang, trace=trace)


def run(program: Sequence[str], *, lang: str | None = None, trace: bool = False) -> None:
    """Become a Python that runs `program` with the hook installed; does not return.

    Args:
        program: what stands after `python` on a command line: script or `-m`, module, arguments.
        lang: language of the answer; the environment's DIAGNOSE_LANG if None.
        trace: whether to record where tensors are born and moved (docs/tracing.md).
    """
    # The name that this Python was called by, and no path: a program sees it in sys.orig_argv.
    command = [sys.orig_argv[0], *_interpreter_options(sys.orig_argv), *program]
    environment = environment_with_hook(os.environ.copy(), lang)
    if trace:
        environment["DIAGNOSE_TRACE"] = "1"
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":  # there, exec starts another process and lets the shell go on at once
        sys.exit(subprocess.call(command, executable=sys.executable, env=environment))
    os.execve(sys.executable, command, environment)


def environment_with_hook(environment: dict[str, str], lang: str | None) -> dict[str, str]:
    """The environment in which each starting Python installs the hook (not with DIAGNOSE_HOOK=0)."""
    paths = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    if str(_STARTUP) not in paths:
        paths.insert(0, str(_STARTUP))
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    if lang is not None:
        environment["DIAGNOSE_LANG"] = lang
    return environment


def _interpreter_options(argv: Sequence[str]) -> list[str]:
    """The options of the running Python itself (-u, -X dev, -W error ...), to be handed on."""
    options: list[str] = []
    rest = iter(argv[1:])
    for argument in rest:
        if not argument.startswith("-") or argument == "-" or argument[:2] in ("-m", "-c"):
            break
        options.append(argument)
        if argument in ("-X", "-W", "--check-hash-based-pycs"):
            options.append(next(rest, ""))
    return options


if __name__ == "__main__":
    run_command(prog_name="python -m diagnose.hooks")
