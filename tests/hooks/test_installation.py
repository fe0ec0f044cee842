"""Putting hooks in place and taking them out, with others doing the same."""

from __future__ import annotations

import io
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hooks.children import MESSAGE, SIGN

import diagnose
from diagnose.hooks import installation


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    before = sys.excepthook, threading.excepthook
    yield
    diagnose.uninstall()
    sys.excepthook, threading.excepthook = before


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A hook that was there before, and what it was called with."""
    made: list[str] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, value, trace: made.append(kind.__name__))
    return made


def fail(hook: Callable[..., Any] | None = None) -> None:
    """What the interpreter does with an uncaught exception."""
    try:
        raise RuntimeError(MESSAGE)
    except RuntimeError:
        (hook or sys.excepthook)(*sys.exc_info())


def test_installing_twice_answers_once(calls: list[str]) -> None:
    page = io.StringIO()
    diagnose.install(stream=page, seconds=60)
    diagnose.install(stream=page, seconds=60)
    fail()
    assert calls == ["RuntimeError"]
    assert page.getvalue().count(SIGN) == 1


def test_installing_again_changes_the_options(calls: list[str]) -> None:
    first, second = io.StringIO(), io.StringIO()
    diagnose.install(stream=first, seconds=60)
    diagnose.install(stream=second, seconds=60)
    fail()
    assert not first.getvalue()
    assert SIGN in second.getvalue()


def test_uninstalling_restores_what_was_there(calls: list[str]) -> None:
    before = sys.excepthook, threading.excepthook
    diagnose.install()
    assert sys.excepthook is not before[0]
    assert threading.excepthook is not before[1]
    diagnose.uninstall()
    assert (sys.excepthook, threading.excepthook) == before
    diagnose.uninstall()
    assert (sys.excepthook, threading.excepthook) == before


def test_uninstalling_under_another_wrapper_leaves_a_passage(calls: list[str]) -> None:
    page = io.StringIO()
    diagnose.install(stream=page, seconds=60)
    ours = sys.excepthook
    sys.excepthook = lambda *args: (calls.append("theirs"), ours(*args))  # type: ignore[func-returns-value]
    theirs = sys.excepthook
    diagnose.uninstall()
    assert sys.excepthook is theirs
    fail()
    assert calls == ["theirs", "RuntimeError"]
    assert not page.getvalue()


def test_wrapped_between_two_installs_answers_once_and_unwinds(calls: list[str]) -> None:
    page = io.StringIO()
    before = sys.excepthook
    diagnose.install(stream=page, seconds=60)
    ours = sys.excepthook
    sys.excepthook = lambda *args: (calls.append("theirs"), ours(*args))  # type: ignore[func-returns-value]
    theirs = sys.excepthook
    diagnose.install(stream=page, seconds=60)
    fail()
    assert calls == ["theirs", "RuntimeError"]
    assert page.getvalue().count(SIGN) == 1
    diagnose.uninstall()
    assert sys.excepthook is theirs
    sys.excepthook = ours  # they restore what they had found: our passage
    fail()
    assert calls[2:] == ["RuntimeError"]
    assert page.getvalue().count(SIGN) == 1
    diagnose.install(stream=page, seconds=60)
    fail()
    assert page.getvalue().count(SIGN) == 2
    diagnose.uninstall()
    assert sys.excepthook is before


def test_a_hook_that_replaces_ours_is_wrapped_by_the_next_install(calls: list[str]) -> None:
    page = io.StringIO()
    diagnose.install(stream=page, seconds=60)
    sys.excepthook = lambda *args: calls.append("theirs")
    diagnose.install(stream=page, seconds=60)
    fail()
    assert calls == ["theirs"]
    assert page.getvalue().count(SIGN) == 1


def test_an_error_without_a_value_is_passed_on() -> None:
    seen: list[Any] = []
    threading.excepthook = seen.append
    page = io.StringIO()
    diagnose.install(stream=page, seconds=60)
    args = threading.ExceptHookArgs((RuntimeError, None, None, None))
    threading.excepthook(args)
    assert seen == [args]
    assert not page.getvalue()


def test_each_thread_has_its_own_answer(calls: list[str]) -> None:
    """A hook that runs in one thread does not silence another."""
    page = io.StringIO()
    inside, go_on = threading.Event(), threading.Event()

    def slow(*args: Any) -> None:
        inside.set()
        go_on.wait(60)

    sys.excepthook = slow
    diagnose.install(stream=page, seconds=60)
    sys_hook = sys.excepthook
    first = threading.Thread(target=fail)
    first.start()
    assert inside.wait(60)
    assert isinstance(sys_hook, installation.ChainedHook)
    sys_hook.previous = lambda *args: None
    fail()
    assert page.getvalue().count(SIGN) == 1
    go_on.set()
    first.join()
    assert page.getvalue().count(SIGN) == 2


@pytest.mark.parametrize("options", [{"lang": "fr"}, {"seconds": 0}, {"seconds": float("nan")}])
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    before = sys.excepthook
    with pytest.raises(ValueError, match=next(iter(options))):
        diagnose.install(**options)
    assert sys.excepthook is before


@pytest.mark.parametrize(
    ("told", "seconds"), [("30", 30), ("", 2), ("soon", 2), ("-1", 2), ("nan", 2)]
)
def test_the_environment_may_give_more_time(
    told: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float] = []
    monkeypatch.setenv("DIAGNOSE_HOOK_SECONDS", told)
    monkeypatch.setattr(
        "diagnose.hooks.installation.answer",
        lambda _, lang, stream, seconds, server: given.append(seconds),
    )
    diagnose.install()
    fail()
    assert given == [seconds]


class Events:
    """The part of IPython's event manager that the hook uses."""

    def __init__(self) -> None:
        self.callbacks: dict[str, list[Callable[[Any], None]]] = {"post_run_cell": []}

    def register(self, event: str, callback: Callable[[Any], None]) -> None:
        self.callbacks[event].append(callback)

    def unregister(self, event: str, callback: Callable[[Any], None]) -> None:
        self.callbacks[event].remove(callback)


def test_a_cell_that_failed_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    events = Events()
    shell = types.SimpleNamespace(events=events)
    fake = types.ModuleType("IPython")
    monkeypatch.setattr(fake, "get_ipython", lambda: shell, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", fake)
    page = io.StringIO()
    diagnose.install(stream=page, seconds=60)
    diagnose.install(stream=page, seconds=60)
    (callback,) = events.callbacks["post_run_cell"]
    callback(types.SimpleNamespace(error_in_exec=None))
    assert not page.getvalue()
    callback(types.SimpleNamespace(error_in_exec=RuntimeError(MESSAGE)))
    assert page.getvalue().count(SIGN) == 1
    diagnose.uninstall()
    assert events.callbacks["post_run_cell"] == []
