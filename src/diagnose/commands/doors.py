"""All of the command line: ``diagnose FILE...`` answers; subcommands show, check and run the case base."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from diagnose import __version__
from diagnose.commands import COMMANDS, DEFAULT, RENAMED, chinese, renamed
from diagnose.commands.shared import BadInput, near
from diagnose.errors import BAD_INPUT, DiagnoseError, printable

#: In a context's meta: its help is in Chinese.
_CHINESE = "diagnose.chinese"


class Doors(click.Group):
    """Loads subcommands lazily and takes ``diagnose FILE`` for ``diagnose answer FILE``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, as the overview shows them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute, *_ = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(module), attribute)
        return chinese.translated(command, cmd_name) if ctx.meta.get(_CHINESE) else command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts the default command before arguments that name none."""
        if chinese.is_wanted(args):
            ctx.meta[_CHINESE] = True
            chinese.translated(self, "diagnose")
            if args[0].startswith("-"):  # the language is no option of the overview
                args = ["--help"]
        if ctx.resilient_parsing and not args:  # a shell completes the first word
            return super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            args = _renamed(args)
        if not args or (args[0] not in COMMANDS and args[0] not in {"--help", "-h", "--version"}):
            _refuse_slip(args)
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What the first word may be: a subcommand, none of which is imported, a file, or an option of the
        default command."""
        if incomplete.startswith("-") and (default := self.get_command(ctx, DEFAULT)) is not None:
            inner = default.make_context(DEFAULT, [], parent=ctx, resilient_parsing=True)
            return default.shell_complete(inner, incomplete)
        found = [
            CompletionItem(name, help=about)
            for name, (_, _, about, _) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*found, CompletionItem(incomplete, type="file")]

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the subcommand; a `DiagnoseError` is bad input, and no file's name steers a terminal."""
        try:
            return super().invoke(ctx)
        except DiagnoseError as error:
            raise BadInput(printable(str(error))) from error
        except click.ClickException as error:
            message = printable(error.format_message())
            error.format_message = lambda: message  # type: ignore[method-assign]
            # click's 1 would mean a failure without a known cause.
            error.exit_code = BAD_INPUT  # type: ignore[misc]
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The overview, without importing any subcommand."""
        said = chinese.sentences() if ctx.meta.get(_CHINESE) else {}
        tasks = said.get("tasks", {})
        for task in dict.fromkeys(task for *_, task in COMMANDS.values()):
            with formatter.section(tasks.get(task, task)):
                formatter.write_dl(
                    [
                        (name, said.get(name, {}).get("line", about))
                        for name, (_, _, about, of) in COMMANDS.items()
                        if of == task
                    ]
                )


def _renamed(args: list[str]) -> list[str]:
    """The command line as it is written today; a hint for each name that has changed."""
    old = {args[0]: RENAMED[args[0]]} if args and args[0] in RENAMED else {}
    args, options = renamed.options(renamed.current(args) if old else args)
    for before, now in {**old, **options}.items():
        click.echo(
            f"diagnose: `{before}` is now `{now}`; the old name goes with the next release",
            err=True,
        )
    return args


def _refuse_slip(args: list[str]) -> None:
    """Asks what was meant by a first word that is no file and nearly a subcommand."""
    word = args[0] if args else ""
    if word.isalpha() and not Path(word).exists() and (hint := near(word, COMMANDS)):
        raise BadInput(f"there is no command and no file {word!r}.{hint}")


@click.command(
    cls=Doors,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="A file that is named like a command: diagnose ./serve",
)
@click.version_option(__version__, prog_name="diagnose")
def doors() -> None:
    """Why did my PyTorch job die of a device-placement error, and what do I change?

    \b
      diagnose < traceback.txt      a pasted traceback, a whole log or a description
      diagnose runs/                a folder of logs: equal failures together
      diagnose answer --help        the options of an answer

    Exit status: 0 nothing wrong, 1 something found, 3 nothing to read or no error in it, 2 bad usage or
    input, 4 internal error (DIAGNOSE_DEBUG=1 shows it). An answer to one input: 0 diagnosed, 1 an error
    without a known cause. See docs/json.md.
    """
