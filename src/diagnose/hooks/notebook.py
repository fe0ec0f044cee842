"""IPython, Jupyter and Colab: ``%load_ext diagnose``, ``%diagnose``, ``%%diagnose``, and answers that show.

%load_ext diagnose       answers follow failed cells; what `diagnose.explain` gives shows as Markdown
%diagnose                why the last exception happened
%%diagnose               runs the cell and records where its tensors are created and moved
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from diagnose.hooks.shell import running
from diagnose.model import Diagnosis

if TYPE_CHECKING:
    from diagnose.model import Lang


def load(ipython: Any) -> None:
    """What ``%load_ext diagnose`` does: installs the hook, the magics, and how answers show.

    Args:
        ipython: the running ``IPython.core.interactiveshell.InteractiveShell``.
    """
    from diagnose.hooks.installation import install

    install()
    ipython.register_magic_function(_line_or_cell, "line_cell", "diagnose")
    show(ipython)


def show(ipython: Any) -> None:
    """Lets a `Diagnosis` that a cell ends in show as Markdown, or as text where that is all there is."""
    forms = ipython.display_formatter.formatters
    forms["text/markdown"].for_type(Diagnosis, _markdown)
    forms["text/plain"].for_type(Diagnosis, lambda found, page, cycle: page.text(_text(found)))


def unload(ipython: Any) -> None:
    """What ``%unload_ext diagnose`` does."""
    from diagnose.hooks.installation import uninstall

    uninstall()
    ipython.magics_manager.magics["line"].pop("diagnose", None)
    ipython.magics_manager.magics["cell"].pop("diagnose", None)
    for form in ("text/markdown", "text/plain"):
        ipython.display_formatter.formatters[form].pop(Diagnosis, None)


def why(error: BaseException | None = None, *, lang: Lang | None = None) -> Diagnosis | None:
    """Why an exception happened: prints it, or gives it to the notebook that shows it.

    Args:
        error: the exception; if None the last one that nobody caught.
        lang: language of the answer; the environment's DIAGNOSE_LANG if None.

    Returns:
        The answer in IPython, which shows it; None elsewhere, where it is printed.

    Raises:
        LookupError: there was no exception.
        CasebaseError: the case base cannot be read.
    """
    from diagnose.hooks.installation import language
    from diagnose.hooks.live import explain

    if error is None:
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if error is None:
        raise LookupError("there was no exception yet")
    found = explain(error, lang=lang or language())
    if (ipython := running()) is not None:
        show(ipython)
        return found
    print(_text(found))
    return None


def _line_or_cell(line: str, cell: str | None = None) -> Diagnosis | None:
    """``%diagnose``: why the last exception happened. ``%%diagnose``: runs the cell, recorded."""
    if cell is None:
        return why()
    from diagnose import tracing

    ipython = running()
    with tracing.trace():
        ipython.run_cell(cell)
    return None


def _text(found: Diagnosis) -> str:
    from diagnose.rendering.text import render

    return render(found).rstrip("\n")


def _markdown(found: Diagnosis) -> str:
    from diagnose.rendering.markdown import render

    return render(found)
