"""Where the command line writes: standard output, or a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from diagnose.errors import DiagnoseError


class OutputError(DiagnoseError):
    """An output that cannot be written; the message is a sentence for its user."""


@contextlib.contextmanager
def writer(path: Path | None) -> Iterator[Callable[[str], object]]:
    """A function that writes text to the file, or to standard output for None.

    What an encoding does not hold is written as an escape. The file is there, or changes, only when the
    block ends well.

    Raises:
        OutputError: the file or standard output cannot be written.
    """
    if path is None:
        stream = sys.stdout
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
        yield stream.write
        stream.flush()
        return
    try:
        with (
            replacing(path) as unfinished,
            unfinished.open("w", encoding="utf-8", errors="backslashreplace") as file,
        ):
            yield file.write
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error


def write(text: str, path: Path | None = None) -> None:
    """`writer` for one text.

    Raises:
        OutputError: as `writer`.
    """
    with writer(path) as put:
        put(text)


#: Variables of coding agents, which may give their commands a terminal.
_AGENTS = ("AI_AGENT", "AGENT", "CLAUDECODE", "CURSOR_AGENT", "GEMINI_CLI")
_CODEX = "CODEX_"


def is_held() -> bool:
    """Whether a coding agent runs this process, as its variables say: it is asked nothing, and shown no
    colours, links and progress, though it may hold a terminal."""
    return any(map(os.environ.get, _AGENTS)) or any(name.startswith(_CODEX) for name in os.environ)


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream is a terminal with a person at its other end."""
    return stream.isatty() and not is_held()


def columns(otherwise: int = 80) -> int:
    """The terminal's width, at least 80 so that paths stay readable; ``otherwise`` where there is none."""
    if "COLUMNS" not in os.environ and not is_terminal(sys.stdout):
        return otherwise
    import shutil  # which imports every compression there is

    return max(shutil.get_terminal_size((otherwise, 24)).columns, 80)


#: Terminals that show links, by what they set: any value, or one of these.
_LINKING: dict[str, tuple[str, ...]] = {
    "TERM_PROGRAM": ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper"),
    "KITTY_WINDOW_ID": (),
    "WT_SESSION": (),
    "KONSOLE_VERSION": (),
    "DOMTERM": (),
}
#: The first VTE (GNOME's and others' terminals) that shows them.
_VTE = 5000


def takes_links() -> bool:
    """Whether standard output is a terminal that asks for links in text (OSC 8).

    ``FORCE_HYPERLINK`` decides where it is set: ``0`` for none, all else for links.
    """
    if forced := os.environ.get("FORCE_HYPERLINK"):
        return forced != "0"
    if not is_terminal(sys.stdout) or os.environ.get("TERM") == "dumb":
        return False
    vte = os.environ.get("VTE_VERSION", "")
    return (vte.isdecimal() and int(vte) >= _VTE) or any(
        name in os.environ and (not values or os.environ[name] in values)
        for name, values in _LINKING.items()
    )


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A temporary file beside ``target`` that takes its place, and its permissions, when the block ends
    well; ``target`` itself where that is a device or a pipe.

    Raises:
        OSError: there is no such folder, or it cannot be written.
    """
    import tempfile  # which imports a dozen others, and most answers go to standard output

    if target.exists() and not target.is_file():
        yield target
        return
    target = target.resolve()  # a link stays one
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        unfinished.chmod(target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask())
        unfinished.replace(target)
    finally:
        for left in (unfinished, Path(f"{name}-journal")):  # the second is SQLite's
            left.unlink(missing_ok=True)


def _umask() -> int:
    """The permissions that new files do not get; the system tells them only while they are set."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
