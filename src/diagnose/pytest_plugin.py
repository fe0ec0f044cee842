"""Below a test that fails of a device placement its diagnosis, once for each cause; and simulated GPUs.

A run without such a failure imports no other module of diagnose.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from diagnose.model import Diagnosis, Lang

_TITLE = "diagnose"
#: Where a worker of pytest-xdist hands a diagnosis to its controller: reports travel with such attributes.
_ATTRIBUTE = "_diagnose"
#: Of the processor, for one failure.
_SECONDS = 10.0
_WIDEST = 120
#: What a diagnosis has in common with others of the same cause, and its page.
_Found = tuple[str, str]


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--diagnose=off``."""
    parser.getgroup("diagnose").addoption(
        "--diagnose",
        choices=("on", "off"),
        default="on",
        help="whether device-placement failures are diagnosed below the tests that fail of them",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Listens for failures, unless it is off."""
    if config.getoption("--diagnose") == "on":
        config.pluginmanager.register(_Plugin(config), "diagnose-failures")


@pytest.fixture
def simulated_gpus() -> Iterator[Callable[[int], None]]:
    """``simulated_gpus(2)``: to the end of the test torch sees two CUDA devices, whatever there is."""
    with ExitStack() as stack:

        def start(count: int = 2) -> None:
            from diagnose import simulation

            stack.enter_context(simulation.simulated_gpus(count))
            for name, module in tuple(sys.modules.items()):
                if name.startswith(simulation.__name__):
                    vars(module)["__tracebackhide__"] = True  # as pytest asks for it

        yield start


class _Plugin:
    """The failures of one run: which causes were shown, below which test, and how often each came again."""

    def __init__(self, config: pytest.Config) -> None:
        self._worker = hasattr(config, "workerinput")
        self._lang: Lang = "zh" if os.environ.get("DIAGNOSE_LANG") == "zh" else "en"
        self._known: dict[tuple[str, ...], _Found | None] = {}
        self._first: dict[str, str] = {}
        self._more: dict[str, int] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[object]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Diagnoses while the exception is alive."""
        report = yield
        if report.failed and call.excinfo is not None:
            found = self._found(call.excinfo.value)
            if found is not None:
                setattr(report, _ATTRIBUTE, found)
        return report

    def _found(self, error: BaseException) -> _Found | None:
        from diagnose.hooks.answers import found, may_be_ours

        if not may_be_ours(error):
            return None
        # Of hundreds of tests that fail at one line the first is looked at.
        key = (type(error).__qualname__, str(error.args[0]), *_place(error))
        if key not in self._known:
            diagnoses = found(error, self._lang, _SECONDS)
            self._known[key] = _shown(diagnoses[0]) if diagnoses else None
        return self._known[key]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds the diagnosis below the first test of a cause, in the process that prints."""
        given = getattr(report, _ATTRIBUTE, None)
        if given is None or self._worker:
            return
        cause, page = given
        if cause in self._first:
            self._more[cause] = self._more.get(cause, 0) + 1
            return
        self._first[cause] = report.nodeid
        add = getattr(
            report.longrepr, "addsection", None
        )  # plain text, of a plugin's own, has none
        if add is not None:
            add(_TITLE, page, "-")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """A line for each cause that several tests fail of."""
        if not self._more:
            return
        from diagnose.rendering.labels import LABELS

        terminalreporter.section(_TITLE)
        said = LABELS[self._lang]["same-cause"]
        for cause, count in self._more.items():
            terminalreporter.line(said.format(test=self._first[cause], count=count))


def _place(error: BaseException) -> tuple[str, str]:
    """The file and line where an exception was raised."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return (step.tb_frame.f_code.co_filename, str(step.tb_lineno)) if step is not None else ("", "")


def _shown(diagnosis: Diagnosis) -> _Found:
    import shutil

    from diagnose.rendering.text import render

    at = diagnosis.culprit or diagnosis.site
    place = f"{at.file}:{at.line}" if at is not None else ""
    cause = diagnosis.causes[0].id if diagnosis.causes else ""
    columns = min(shutil.get_terminal_size((80, 24)).columns, _WIDEST)
    return f"{cause} {place}", render(diagnosis, columns=columns).rstrip()
