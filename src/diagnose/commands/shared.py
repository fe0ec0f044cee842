"""What several subcommands share: options, and how bad input ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from diagnose.errors import BAD_INPUT, printable

Command = TypeVar("Command", bound=Callable[..., Any])

LANG = click.option(
    "--lang",
    type=click.Choice(["en", "zh"]),
    default="en",
    show_default=True,
    envvar="DIAGNOSE_LANG",
    help="Language of the answer.",
)
KB = click.option(
    "--kb",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("kb"),
    show_default=True,
    help="Folder with the case base's source.",
)
GPUS = click.option(
    "--gpus",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help="How many GPUs are simulated.",
)


def output(about: str, *also: str, multiple: bool = False) -> Callable[[Command], Command]:
    """``-o``, ``--output FILE``, as every command that writes a file takes it; ``also`` are other names."""
    return click.option(
        "-o",
        "--output",
        *also,
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        multiple=multiple,
        help=about,
    )


def text_or_json(about: str) -> Callable[[Command], Command]:
    """``--format text|json``, as commands with these two forms take it."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help=about,
    )


OUTPUT = output("Write the answer to FILE.")
JOBS = click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Number of worker processes; by default one per core.",
)
SOURCE = click.option(
    "--source",
    multiple=True,
    type=click.Path(exists=True, path_type=str),
    metavar="DIR",
    help="Where else the files lie that the traceback names; may be given more than once.",
)
STORE = click.option(
    "--store",
    envvar="DIAGNOSE_STORE",
    metavar="LOCATION",
    help="Where failures are remembered: a file, or the URL of a PostgreSQL database; none for nowhere. By "
    "default a file among your own data.",
)
NO_SOURCE = click.option(
    "--no-source", is_flag=True, help="Read none of the files that the traceback names."
)


_MOST_NEAR = 4


class BadInput(click.ClickException):
    """Bad usage or input, or a case base that cannot be read; the message is a sentence."""

    exit_code = BAD_INPUT


def ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The causes and incidents that a shell may complete a word to."""
    from diagnose.casebase.store import load

    casebase = load()
    return [id for id in (*casebase.causes, *casebase.incidents) if id.startswith(incomplete)]


def incident_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The incidents that a shell may complete a word to."""
    from diagnose.casebase.store import load

    return [id for id in load().incidents if id.startswith(incomplete)]


def near(word: str, known: Iterable[str]) -> str:
    """`` Did you mean ...?`` with the known words that look like one or contain it; empty where none does,
    else with a blank before it."""
    import difflib

    words = list(known)
    alike = [*difflib.get_close_matches(word, words, n=3), *(one for one in words if word in one)]
    found = list(dict.fromkeys(alike))[:_MOST_NEAR]
    if not word or not found:
        return ""
    *others, last = found
    return f" Did you mean {', '.join(others)} or {last}?" if others else f" Did you mean {last}?"


class Subcommands(click.Group):
    """A group that asks what a mistyped subcommand may mean; of click only newer releases do."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the subcommand. Raises click.UsageError for an unknown one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            told, hint = error.format_message(), near(args[0], self.list_commands(ctx))
            if not hint or "Did you mean" in told:
                raise
            raise click.UsageError(f"{told}{hint}", ctx) from error


def fail(sentence: str) -> NoReturn:
    """Ends with a sentence for the user and the status for bad input."""
    click.echo(f"diagnose: {printable(sentence)}", err=True)
    sys.exit(BAD_INPUT)
