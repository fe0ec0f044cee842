"""The entry point of the command line, and its one door for errors.

``diagnose < traceback.txt``, ``diagnose [--full] [--format FORM] [--source DIR]... FILE...`` and
``diagnose DIR...`` go straight to the answer: importing click, which reads options and subcommands
(`diagnose.commands.doors`), takes longer than ranking a report.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from diagnose import configuration
from diagnose.bulkhead import debug, place
from diagnose.commands import COMMANDS, RENAMED
from diagnose.errors import BAD_INPUT, FAULT, DiagnoseError, printable

#: Allocations between two collections. An answer makes few cycles and ends soon after; Python's default
#: would look for garbage a hundred times while modules are imported.
_COLLECT_AFTER = 50_000
Status = int | str | None
#: First options that are on or off -> the parameter of each.
_FLAGS = {"--group": "group", "--no-source": "no_source"}
#: The exit status where somebody interrupts, or nobody reads on.
_STOPPED = 1


def main(args: list[str] | None = None) -> NoReturn:
    """Entry point of the ``diagnose`` command. Always ends the process's work with `SystemExit`."""
    given = sys.argv[1:] if args is None else args
    closed = _standard_streams()
    status = _settled(lambda: _run(given), closed)
    status = _settled(lambda: _flushed(status), closed)
    status = _settled(lambda: _with_notice(status), closed)
    if args is None:
        gc.freeze()  # the interpreter's last looks for garbage would take a fifth of an answer's time
    sys.exit(status)


def _run(args: list[str]) -> Status:
    given, files = _given(args)
    if _only_files(files):
        gc.set_threshold(_COLLECT_AFTER)
        from diagnose.inputs import is_grouped

        form = given.get("form", "text")
        if given.pop("group", False) or is_grouped(files, form):
            if set(given) <= {"form"} and form in ("text", "json"):
                from diagnose.scanning.answers import scan
                from diagnose.scanning.workers import cores

                return scan(files or ["-"], form, jobs=cores())
        else:
            from diagnose.answers import answer

            return answer(tuple(files), **given)
    from diagnose.commands.doors import doors

    defaults = configuration.defaults(COMMANDS)
    doors.main(args=args, prog_name="diagnose", default_map=defaults)  # ends with SystemExit
    return 0


def _given(args: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The form of the answer and where to read source, where these are the first options, and the other
    arguments. Whatever is not as expected is left for click to tell."""
    given: dict[str, Any] = {}
    rest, full = list(args), False
    while rest and rest[0] in (*_FLAGS, "--full", "--format", "--source"):
        option = rest.pop(0)
        if option in _FLAGS:
            given[_FLAGS[option]] = True
        elif option == "--full":
            full = True
        elif not rest:
            return {}, args
        elif option == "--source":
            given["folders"] = (*given.get("folders", ()), rest.pop(0))
        else:
            from diagnose.rendering import FORMATS

            if rest[0] not in FORMATS:
                return {}, args
            given["form"] = rest.pop(0)
    if full:
        from diagnose.rendering import FULL

        form = given.get("form", "text")
        given["form"] = FULL.get(form, form)
    return given, rest


def _only_files(args: list[str]) -> bool:
    """True where click has nothing to read: no option, no subcommand nor a word that may be meant for one,
    no variable, no Windows pattern."""
    return (
        all(arg and (arg == "-" or not arg.startswith("-")) for arg in args)
        and not (args and (args[0] in COMMANDS or args[0] in RENAMED or os.name == "nt"))
        and not (args and args[0].isalpha() and not os.path.exists(args[0]))  # noqa: PTH110
        and not os.environ.get("DIAGNOSE_LANG")
        and not os.environ.get("_DIAGNOSE_COMPLETE")  # a shell asks what could be typed
        and not configuration.configured()
    )


# --- the door ---------------------------------------------------------------------------------------


def _settled(work: Callable[[], Status], closed: bool) -> Status:
    """The exit status of some work: whatever it raises ends in a sentence on standard error.

    Args:
        work: returns an exit status.
        closed: whether standard output was closed from the beginning.
    """
    try:
        return work()
    except SystemExit as end:
        return end.code
    except KeyboardInterrupt:
        print("\nAborted!", file=sys.stderr)
        return _STOPPED
    except BrokenPipeError:  # the reader (head, less) has gone
        _give_up_output()
        return _STOPPED
    except DiagnoseError as error:
        print(f"Error: {printable(str(error))}", file=sys.stderr)
        return BAD_INPUT
    except Exception as error:
        debug("diagnose failed", error)
        if isinstance(error, OSError) and _of_output(error):
            _give_up_output()
            reason = "it is closed" if closed else error.strerror or error
            print(f"Error: standard output cannot be written: {reason}", file=sys.stderr)
            return BAD_INPUT
        if isinstance(error, OSError):
            where = f"{error.filename}: " if error.filename is not None else ""
            print(f"Error: {printable(f'{where}{error.strerror or error}')}", file=sys.stderr)
            return BAD_INPUT
        if isinstance(error, ImportError) and not (error.name or "").startswith("diagnose"):
            print(f"Error: {error}", file=sys.stderr)  # an extra that is not installed
            return BAD_INPUT
        print(
            f"Error: internal error: {place(error)}\n"
            "Nothing was changed. DIAGNOSE_DEBUG=1 shows all of it, for a bug report.",
            file=sys.stderr,
        )
        return FAULT


def _of_output(error: OSError) -> bool:
    """Whether an error is of writing to a stream that was open: those of files carry their names."""
    return error.filename is None and error.errno in (
        errno.ENOSPC,
        errno.EBADF,
        errno.EIO,
        errno.EDQUOT,
    )


def _flushed(status: Status) -> Status:
    """The status, when all that was printed is out: at exit Python could only complain."""
    sys.stdout.flush()
    return status


def _with_notice(status: Status) -> Status:
    """The status. What is wrong with the installation, or a case base older than its kb/, is said below
    the answer."""
    from diagnose.checkout import stale
    from diagnose.installation import overwritten

    for notice in (overwritten, stale):
        with contextlib.suppress(OSError, DiagnoseError):
            if sentence := notice():
                print(f"diagnose: {printable(sentence)}", file=sys.stderr)
    return status


def _give_up_output() -> None:
    """Lets what is still to be written vanish: it would fail once more at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _standard_streams() -> bool:
    """Puts streams in place of closed ones, and tells whether standard output was closed.

    Python has None there: a print to a closed standard error would land in standard output, and the first
    file that is opened would get the number of the closed one. Writing to standard output then fails.
    """
    closed = sys.stdout is None
    if closed:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    return closed


if __name__ == "__main__":
    main()
