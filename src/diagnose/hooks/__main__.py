"""`python -m diagnose.hooks SCRIPT [ARGS...]`: for launchers that start a module.

torchrun --nproc-per-node 2 -m diagnose.hooks train.py --epochs 3
"""

from __future__ import annotations

import click

from diagnose.hooks.command import run


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--lang", type=click.Choice(["en", "zh"]), help="Language of the answer.")
@click.option("--trace", is_flag=True, help="Record where each tensor is created and moved.")
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


run_command(prog_name="python -m diagnose.hooks")
