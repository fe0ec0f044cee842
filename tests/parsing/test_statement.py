"""Carets and statements over several lines, as CPython prints them: which part of the source failed."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable

import pytest

from diagnose.model import Frame
from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks import cpython
from diagnose.scene import sourceline
from diagnose.scene.scene import Place

#: Printed by CPython 3.13.0 for a sum over three lines.
SEVERAL = """\
  File "net.py", line 9, in k
    a + 1
    ~~~~~
    + b[
    ^~~~
       0]
       ~~
"""
#: Printed by CPython 3.11.7 for the same: the first line alone, and no carets, since they would cover it.
FIRST = """\
  File "net.py", line 9, in k
    a + 1
"""
#: CPython 3.13 leaves lines out of a long statement.
LEFT_OUT = """\
  File "net.py", line 3, in f
    y = torch.cat(
        [
    ...<4 lines>...
        dim=1,
    )
"""


def read(text: str) -> Frame:
    lines = [Peeled(number, line) for number, line in enumerate(text.split("\n"), 1)]
    found = cpython.frame(lines, 0)
    assert found is not None
    return found[0]


def failed(frame: Frame) -> str | None:
    """The source of the part that the carets underline."""
    line = Place(frame, frame.statement, carets=True).line
    if line is None or frame.statement is None:
        return None
    node = sourceline.failing(line, frame.statement.carets)
    return line.segment(node) if node is not None else None  # type: ignore[arg-type]


def test_all_lines_of_a_statement_belong_to_it() -> None:
    frame = read(SEVERAL)
    assert frame.code == "a + 1"
    assert frame.statement is not None
    assert frame.statement.text == "a + 1\n+ b[\n   0]"
    assert failed(frame) == "a + 1\n+ b[\n   0]"


def test_a_line_without_carets_is_no_more_than_its_code() -> None:
    frame = read(FIRST)
    assert (frame.code, frame.statement) == ("a + 1", None)


def test_lines_that_were_left_out_end_the_statement() -> None:
    frame = read(LEFT_OUT)
    assert frame.statement is not None
    assert frame.statement.text == "y = torch.cat(\n    ["
    assert Place(frame, frame.statement, carets=True).line is not None


class _Raises:
    """Whatever is done with it fails, but for the names of its methods."""

    def __getattr__(self, name: str) -> object:
        if name in {"t", "device"}:
            return lambda *_: self
        raise AttributeError(name)

    def _fail(self, *_: object, **__: object) -> object:
        raise RuntimeError("Expected all tensors to be on the same device")

    __add__ = __mul__ = __matmul__ = __getitem__ = __call__ = __lt__ = __iadd__ = _fail


@pytest.mark.skipif(sys.version_info < (3, 11), reason="no carets")
@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("y = 1 + (x @ 2) * 3", "x @ 2"),
        ("y = (x.t() * 2, 1)", "x.t() * 2"),
        ("y = [1, x[0]]", "x[0]"),
        ("y = str(x(1, k=2)) + 'a'", "x(1, k=2)"),
        ("名 = '名字' + str(x * 2)", "x * 2"),
        ("y = 'ﬁé' + str(x @ 名前)", "x @ 名前"),
        ("y = (x < 3, 4)", "x < 3"),
    ],
)
def test_the_part_that_failed_is_found_in_what_this_python_prints(source: str, part: str) -> None:
    printed = _traceback(lambda: exec(compile(source, __file__ + "x", "exec"), _names()), source)
    assert failed(read(printed)) == part


def _names() -> dict[str, object]:
    return {"x": _Raises(), "名前": 2}


def _traceback(run: Callable[[], object], source: str) -> str:
    """What Python prints of the frame that runs the source."""
    import linecache

    name = __file__ + "x"
    linecache.cache[name] = (len(source), None, [source + "\n"], name)
    try:
        run()
    except RuntimeError as error:
        printed = "".join(traceback.format_exception(error))
        return "  File " + printed.split("  File ")[-2]
    finally:
        del linecache.cache[name]
    raise AssertionError("nothing failed")
