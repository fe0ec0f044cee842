"""One spelling of a place in all of an answer: short, and such that an editor or terminal opens it."""

from __future__ import annotations

from collections.abc import Mapping

from diagnose.model import Frame
from diagnose.patterns import in_package, lazy

_CELL = lazy(r"<ipython-input-(\d+)-\w+>|(?:Cell In|Input In|In) ?\[(\d+)\]")
#: A name in a path: of at most two words, and a remark ("Program Files (x86)").
_PART = r"[\w.+@=~,()\[\]<>*-]+(?: [\w.+@=~,-]+)?(?: \(\w+\))?"
_PLAIN = lazy(rf"(?:[A-Za-z]:)?[\\/]*(?:{_PART}[\\/]+)*{_PART}")
_LONGEST = 60
#: Files of this process that are cells of a notebook -> what it calls them.
_named: dict[str, str] = {}


def name_cells(names: Mapping[str, str]) -> None:
    """Calls files by other names in all answers of this process: cells of a notebook, ``Cell In[5]``."""
    _named.update(names)


def is_cell(path: str) -> bool:
    """Whether a path is a cell of a notebook, which is no file that a command could be given."""
    return path in _named or _CELL.fullmatch(path) is not None


def is_plain(path: str) -> bool:
    """Whether a path that was pasted is the name of a file or a cell, and no sentence: of letters, digits
    and signs of paths, and of few words."""
    return is_cell(path) or _PLAIN.fullmatch(path) is not None


def short(path: str) -> str:
    """A file's name as people know it.

    A notebook's cell is told as IPython tells it (``Cell In[8]``), a file of an installed package from the
    package on, any other as it was printed; of a long path the end stands, which an editor finds too.
    """
    if path in _named:
        return _named[path]
    if cell := _CELL.fullmatch(path):
        return f"Cell In[{cell[1] or cell[2]}]"
    path = (in_package(path) or path).replace("\\", "/")
    if len(path) <= _LONGEST:
        return path
    parts = path.split("/")
    kept, length = 1, len(parts[-1])
    while kept < len(parts) and (kept < 2 or length + 1 + len(parts[-kept - 1]) <= _LONGEST):
        kept += 1
        length += 1 + len(parts[-kept])
    return "/".join(parts[-kept:])


def place(file: str, line: int | None) -> str:
    """``train.py:12``, or ``Cell In[8], line 12``."""
    name = short(file)
    if line is None:
        return name
    return f"{name}, line {line}" if name.startswith("Cell In[") else f"{name}:{line}"


def of_frame(frame: Frame) -> str:
    """The place of a frame."""
    return place(frame.file, frame.line)


def basename(path: str) -> str:
    """The last component of a path of any system; a notebook's cell by its name."""
    if path in _named:
        return _named[path]
    return path.replace("\\", "/").rpartition("/")[2]
