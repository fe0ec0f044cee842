"""The entry point of the command line.

``diagnose < traceback.txt`` and ``diagnose [--format FORM] FILE...`` go straight to the answer: importing
click, which reads options and subcommands (`diagnose.commands.doors`), takes longer than ranking a report.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

from diagnose.commands import BAD_INPUT, COMMANDS

#: Allocations between two collections. An answer makes few cycles and ends soon after; Python's default
#: would look for garbage a hundred times while modules are imported.
_COLLECT_AFTER = 50_000


def main(args: list[str] | None = None) -> Any:
    """Entry point of the ``diagnose`` command."""
    given = sys.argv[1:] if args is None else args
    try:
        form, files = _form(given)
        if _only_files(files):
            gc.set_threshold(_COLLECT_AFTER)
            return sys.exit(_answer(tuple(files), form))
        from diagnose.commands.doors import doors

        return doors.main(args=args, prog_name="diagnose")
    except BrokenPipeError:
        # The reader (head, less) has gone; the interpreter must not complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return sys.exit(1)


def _form(args: list[str]) -> tuple[str, list[str]]:
    """The form of the answer where that is the first option, and the other arguments."""
    if args[:1] == ["--format"] and args[1:2] in (["text"], ["json"], ["markdown"]):
        return args[1], args[2:]
    return "text", args


def _only_files(args: list[str]) -> bool:
    """True where click has nothing to read: no option, no subcommand, no variable, no Windows pattern."""
    return (
        all(arg and (arg == "-" or not arg.startswith("-")) for arg in args)
        and not (args and (args[0] in COMMANDS or os.name == "nt"))
        and not os.environ.get("DIAGNOSE_LANG")
    )


def _answer(files: tuple[str, ...], form: str) -> int:
    """`diagnose.answering.answer`, with what click says and does where it fails or is interrupted."""
    from diagnose.answering import answer
    from diagnose.casebase.store import CasebaseError
    from diagnose.outputs import OutputError

    try:
        return answer(files, form)
    except (CasebaseError, OutputError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("\nAborted!", file=sys.stderr)
        return 1


if __name__ == "__main__":
    main()
