"""`explain`: a live exception is read as its printed traceback is, and let go of afterwards."""

from __future__ import annotations

import gc
import io
import sys
import traceback
import weakref

import pytest
from hooks.children import MESSAGE, SIGN

import diagnose
from diagnose.model import Diagnosis
from diagnose.pipeline import diagnose as diagnose_text
from diagnose.rendering.text import render
from diagnose.sources import Sources, read_cached


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    """The exception after it has been raised here."""
    try:
        raise error from cause
    except BaseException as caught:
        return caught


def as_text(error: BaseException) -> Diagnosis:
    """What the command line says of the same exception."""
    text = "".join(traceback.format_exception(error))
    found = diagnose_text(text, "traceback", sources=Sources(read=read_cached))
    return found._replace(report=found.report._replace(live=True))


CASES = {
    "plain": lambda: raised(RuntimeError(MESSAGE)),
    "cause": lambda: raised(RuntimeError(MESSAGE), raised(KeyError("a"))),
    "carried": lambda: raised(ValueError("training failed"), raised(RuntimeError(MESSAGE))),
    "other": lambda: raised(KeyError("weight")),
    "bare": lambda: RuntimeError(MESSAGE),
    "syntax": lambda: raised(SyntaxError("bad", ("a.py", 1, 2, "x = (", 1, 3))),
}


@pytest.mark.parametrize("make", CASES.values(), ids=CASES.keys())
def test_same_answer_as_for_the_printed_traceback(make) -> None:  # type: ignore[no-untyped-def]
    error = make()
    assert diagnose.explain(error) == as_text(error)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups")
def test_same_answer_for_a_group() -> None:
    members = [raised(ValueError("x")), raised(RuntimeError(MESSAGE))]
    error = raised(ExceptionGroup("several", members))  # type: ignore[type-var]  # noqa: F821
    assert diagnose.explain(error) == as_text(error)


def test_the_frames_in_which_ipython_runs_a_cell_are_left_out() -> None:
    shell = {
        "__name__": "IPython.core.interactiveshell",
        "cell": raised,
        "error": RuntimeError(MESSAGE),
    }
    exec("def run_code():\n    raise error\n", shell)
    try:
        shell["run_code"]()  # type: ignore[operator]
    except RuntimeError as error:
        assert error.__traceback__ is not None
        error.__traceback__ = error.__traceback__.tb_next
        assert [f.function for f in diagnose.explain(error).report.frames] == ["run_code"]

    def cell() -> None:
        raise RuntimeError(MESSAGE)

    shell["cell"] = cell
    exec("def run_code():\n    cell()\n", shell)
    try:
        shell["run_code"]()  # type: ignore[operator]
    except RuntimeError as error:
        assert error.__traceback__ is not None
        error.__traceback__ = error.__traceback__.tb_next
        assert [f.function for f in diagnose.explain(error).report.frames] == ["cell"]


def test_frames_do_not_depend_on_tracebacklimit(monkeypatch: pytest.MonkeyPatch) -> None:
    error = raised(RuntimeError(MESSAGE))
    expected = diagnose.explain(error)
    monkeypatch.setattr(sys, "tracebacklimit", 0, raising=False)
    assert diagnose.explain(error) == expected
    assert expected.report.frames


def test_the_exception_is_left_as_it_was() -> None:
    error = raised(RuntimeError(MESSAGE), raised(KeyError("a")))
    before = error.__traceback__, error.__cause__, error.__context__, error.args
    printed = traceback.format_exception(error)
    diagnose.explain(error)
    assert (error.__traceback__, error.__cause__, error.__context__, error.args) == before
    assert traceback.format_exception(error) == printed


def test_explaining_while_another_exception_is_handled() -> None:
    try:
        {}["a"]
    except KeyError:
        try:
            raise RuntimeError(MESSAGE)
        except RuntimeError as inner:
            nested = diagnose.explain(inner)
            assert diagnose.explain(inner) == nested
    assert nested.report.error is not None
    assert nested.report.error.message == MESSAGE


def test_the_answer_can_be_printed_in_either_language() -> None:
    error = raised(RuntimeError(MESSAGE))
    english, chinese = diagnose.explain(error), diagnose.explain(error, lang="zh")
    assert SIGN in render(english)
    assert chinese._replace(lang="en", causes=(), nearest=()) == english._replace(
        causes=(), nearest=()
    )
    assert render(chinese) != render(english)


class Precious:
    """Something large in a frame."""


@pytest.mark.parametrize("through_hook", [True, False], ids=["hook", "explain"])
def test_nothing_of_the_program_is_kept(
    through_hook: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive: list[weakref.ref[Precious]] = []

    def train() -> None:
        large = Precious()
        alive.append(weakref.ref(large))
        raise RuntimeError(MESSAGE)

    def die() -> object:
        try:
            train()
        except RuntimeError as error:
            if not through_hook:
                return diagnose.explain(error)
            monkeypatch.setattr(sys, "excepthook", lambda *args: None)
            page = io.StringIO()
            diagnose.install(stream=page, seconds=60)
            sys.excepthook(type(error), error, error.__traceback__)
            diagnose.uninstall()
            return page.getvalue()
        return None

    answer = die()
    assert answer
    gc.collect()
    assert alive[0]() is None
