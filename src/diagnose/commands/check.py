"""``diagnose check``: what will fail, or stay behind, when code meets a GPU."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from diagnose.checking.accelerator import RULE
from diagnose.checking.answering import Wanted, answer, answer_map
from diagnose.checking.formats import FORMATS
from diagnose.commands.shared import JOBS, LANG, OUTPUT
from diagnose.model import Lang
from diagnose.scanning.workers import cores

Command = TypeVar("Command", bound=Callable[..., Any])


def _ids(
    _context: click.Context, _option: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    """The ids of options that may be given more than once, each with several between commas."""
    return tuple(one.strip() for given in value for one in given.split(",") if one.strip())


def _completed(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[str]:
    """What the last id between commas may be, behind those before it."""
    from diagnose.casebase.store import load

    before, comma, begun = incomplete.rpartition(",")
    known = [*(rule.id for rule in load().checks()), RULE]
    return [f"{before}{comma}{rule}" for rule in known if rule.startswith(begun)]


def _rules(name: str, about: str) -> Callable[[Command], Command]:
    """An option that takes ids of rules."""
    return click.option(
        name, multiple=True, metavar="ID,...", callback=_ids, shell_complete=_completed, help=about
    )


@click.command()
@click.argument("paths", nargs=-1, metavar="PATH...")
@_rules("--select", "Only these rules.")
@_rules("--ignore", "Not these rules.")
@click.option("--preview", is_flag=True, help="Rules in preview too, and what is only likely.")
@click.option(
    "--exclude",
    multiple=True,
    metavar="GLOB",
    help="In folders, leave such files and folders out; may be given more than once.",
)
@click.option(
    "--since",
    metavar="COMMIT",
    help="Only findings on lines that changed since COMMIT, such as origin/main.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="Form of the findings.",
)
@click.option("--fix", is_flag=True, help="Make the fixes that are safe.")
@click.option("--unsafe-fixes", "unsafe", is_flag=True, help="Make those too that are not.")
@click.option(
    "--no-cache", "cache", is_flag=True, default=True, flag_value=False, help="Read all files anew."
)
@click.option("--diff", is_flag=True, help="Print what would be fixed, and change nothing.")
@click.option(
    "--warn-unused-ignores", "warn_unused", is_flag=True, help="Report unused ignore comments."
)
@click.option(
    "--stdin-filename",
    "stdin_name",
    default="stdin.py",
    metavar="NAME",
    help='What standard input ("-") is called, for an editor.',
)
@click.option(
    "--device-map",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Instead of PATHs, check this device map (JSON) against --model.",
)
@click.option(
    "--model",
    metavar="NAME_OR_FILE",
    help="Its model: a folder, an index of weights, a configuration, or a downloaded model's name.",
)
@JOBS
@LANG
@OUTPUT
def check(
    paths: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    preview: bool,
    exclude: tuple[str, ...],
    since: str | None,
    form: str,
    fix: bool,
    unsafe: bool,
    diff: bool,
    cache: bool,
    warn_unused: bool,
    stdin_name: str,
    device_map: Path | None,
    model: str | None,
    jobs: int | None,
    lang: Lang,
    output: Path | None,
) -> None:
    """Find placement errors in the Python files and notebooks of PATHs ("-" is standard input).

    The code is read, never run. A comment at the end of a line keeps its findings quiet:
    "# noqa: ID" or "# diagnose: ignore[ID]".

    Exit status: 0 nothing found, 1 findings, 2 bad usage or a named file that cannot be read, 4 internal
    error.
    """
    if bool(paths) == bool(device_map and model) or bool(device_map) != bool(model):
        raise click.UsageError("give PATH..., or --device-map FILE and --model NAME_OR_FILE")
    if since is not None and (fix or unsafe or diff):
        raise click.UsageError("--since reports; fixes are of all lines")
    wanted = Wanted(
        select,
        ignore,
        preview,
        exclude,
        form,
        fix,
        unsafe,
        diff,
        warn_unused,
        lang,
        stdin_name,
        since,
        cache,
    )
    if device_map is not None and model is not None:
        sys.exit(answer_map(device_map, model, wanted, output))
    sys.exit(answer(paths, wanted, jobs or cores(), output))
