"""Exceptions whose classes would run code when they are looked at, in programs that have the hook."""

from __future__ import annotations

import sys
import traceback
import tracemalloc
from pathlib import Path

import pytest
from hooks.children import MESSAGE, PREAMBLE, SIGN, answer_after, python

from diagnose.hooks.introspection import text_of
from diagnose.hooks.live import explain, printed

#: What a program raises; `ran` is told by whatever runs after the program's own code has ended.
PROGRAMS = {
    "str": """
class Failed(RuntimeError):
    def __str__(self):
        ran("__str__")
        return self.args[0]
raise Failed(MESSAGE)
""",
    "repr of an argument": """
class Meta(type):
    def __eq__(cls, other): ran("__eq__"); return cls is other
    __hash__ = type.__hash__
class Thing(metaclass=Meta):
    def __repr__(self):
        ran("__repr__")
        return "thing"
raise RuntimeError(MESSAGE, Thing())
""",
    "a string of its own": """
class Text(str):
    def __str__(self): ran("Text.__str__"); return MESSAGE
    def __len__(self): ran("Text.__len__"); return 1
raise RuntimeError(Text(MESSAGE))
""",
    "chain": """
class Failed(RuntimeError):
    __cause__ = property(lambda self: ran("__cause__"))
    __context__ = property(lambda self: ran("__context__"))
    __traceback__ = property(lambda self: ran("__traceback__"))
    __class__ = property(lambda self: ran("__class__") or Failed)
    exceptions = property(lambda self: ran("exceptions") or ())
    __notes__ = property(lambda self: ran("__notes__") or [])
    args = property(lambda self: ran("args") or ())
raise Failed(MESSAGE)
""",
    "metaclass": """
class Meta(type):
    __module__ = property(lambda cls: ran("__module__") or "m")
    __name__ = property(lambda cls: ran("__name__") or "n")
    __mro__ = property(lambda cls: ran("__mro__") or ())
    def __eq__(cls, other): ran("__eq__"); return cls is other
    __hash__ = type.__hash__
class Failed(RuntimeError, metaclass=Meta):
    pass
raise Failed(MESSAGE)
""",
    "in an attribute error's object": """
class Thing:
    def __dir__(self):
        ran("__dir__")
        return ["weight"]
try:
    Thing().wieght
except AttributeError:
    raise RuntimeError(MESSAGE)
""",
}
#: The interpreter itself may look at the exception when it prints the traceback; that is not the hook.
#: So the recording begins when the traceback is out, in a hook that ours wraps.
RECORDING = f"""
import sys
MESSAGE = {MESSAGE!r}
begun = []
def ran(what):
    if begun:
        print("user code ran:", what)
before = sys.__excepthook__
def printing(kind, error, trace):
    sys.stderr.write("Traceback (most recent call last):\\n  (as the program prints it)\\n")
    begun.append(True)
sys.excepthook = printing
"""


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_no_code_of_an_exceptions_class_runs(tmp_path: Path, program: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(RECORDING + PREAMBLE + program, encoding="utf-8")
    plain, hooked = python(script), python(script, HOOKED="1")
    assert hooked.out == ""
    assert SIGN in answer_after(plain, hooked)
    assert MESSAGE in hooked.err or "cuda:0" in hooked.err


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups and notes")
def test_members_and_notes_are_read_without_asking(tmp_path: Path) -> None:
    program = """
class Group(ExceptionGroup):
    exceptions = property(lambda self: ran("exceptions") or ())
    message = property(lambda self: ran("message") or "")
class Note(str):
    def __str__(self): ran("note"); return "note"
inner = RuntimeError(MESSAGE)
inner.__notes__ = [Note("on rank 1")]
raise Group("several", [ValueError("x"), inner])
"""
    script = tmp_path / "train.py"
    script.write_text(RECORDING + PREAMBLE + program, encoding="utf-8")
    plain, hooked = python(script), python(script, HOOKED="1")
    assert hooked.out == ""
    assert SIGN in answer_after(plain, hooked)


def as_python_prints(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def test_built_in_exceptions_are_printed_as_python_prints_them() -> None:
    errors = [
        RuntimeError(),
        RuntimeError("a", 1, None, b"x", ["y", ("z",)], {"k": 1.5}),
        KeyError("weight"),
        OSError(2, "No such file", "a.txt"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        ImportError("no", name="x"),
        SyntaxError("bad", ("a.py", 1, 2, "x = (", 1, 3)),
        StopIteration(3),
    ]
    if sys.version_info >= (3, 11):
        group = ExceptionGroup("all", [ValueError(1), ExceptionGroup("in", [KeyError("k")])])  # noqa: F821
        group.add_note("with a note")
        errors.append(group)
    errors[0].__cause__ = errors[1]
    errors[2].__context__ = errors[3]
    errors[3].__context__, errors[3].__suppress_context__ = errors[4], True
    for error in errors:
        assert printed(error) == as_python_prints(error)


def test_what_is_not_built_in_is_shown_by_its_class() -> None:
    class Thing:
        def __repr__(self) -> str:
            raise AssertionError("asked")

    assert text_of(RuntimeError(Thing())) == "<Thing object>"
    assert text_of(RuntimeError("at", [Thing()])) == "('at', <list object>)"
    assert text_of(OSError(2, "gone", Thing())) == "(2, 'gone')"


def test_a_huge_message_takes_little_memory_and_keeps_both_ends() -> None:
    error = RuntimeError(MESSAGE + "\n" + "x" * 50_000_000 + "\nlast words")
    explain(RuntimeError(MESSAGE))  # what is loaded once is no part of it
    tracemalloc.start()
    diagnosis = explain(error)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000
    assert diagnosis.report.error is not None
    assert diagnosis.report.error.family == "device-placement"
    assert printed(error).endswith("x\nlast words\n")
    assert "[498001" in printed(error)
