"""`explain`: from a live exception to a `Diagnosis`.

A copy of the exception is printed and read again as any pasted traceback is: chains, groups, replicas
and quoted tracebacks then mean the same in all doors. What only a live process has, the tensors in the
frames, is added to the report.
"""

from __future__ import annotations

import traceback
from functools import partial
from types import TracebackType

from diagnose.hooks.exceptions import printable
from diagnose.model import Diagnosis, Lang

#: The innermost frames of a traceback that are read; recursion can make thousands.
_FRAMES = 1000


def explain(error: BaseException, *, lang: Lang = "en", top: int = 3) -> Diagnosis:
    """Say why an exception happened.

    Args:
        error: a live exception; its frames are looked at, nothing in them is computed or changed.
        lang: language of the answer.
        top: how many causes the answer holds at most.

    Returns:
        The diagnosis; its evidence counts the lines of the traceback as Python prints it. It holds
        no reference to the exception, its frames or its tensors.

    Raises:
        CasebaseError: the case base cannot be read.
    """
    from diagnose import pipeline
    from diagnose.casebase.store import load
    from diagnose.hooks.live_tensors import look
    from diagnose.parsing import parse
    from diagnose.sources import Sources, read_cached

    casebase = load(lang=lang)
    report = parse(printed(error), "traceback", knowledge=casebase.knowledge)
    return pipeline.explain(
        report._replace(live=True),
        casebase=casebase,
        top=top,
        sources=Sources(read=read_cached),
        look=partial(look, error),
    )


def printed(error: BaseException) -> str:
    """The exception as Python prints it, whatever `sys.tracebacklimit` says; no code of its class runs."""
    copy = printable(error)
    exception = traceback.TracebackException(
        type(copy), copy, _from_cell(copy.__traceback__), limit=-_FRAMES, compact=True
    )
    return "".join(exception.format())


def _from_cell(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames in which IPython runs a cell; it does not print them either."""
    step = trace
    while step is not None:
        name = dict.get(step.tb_frame.f_globals, "__name__")
        if type(name) is not str or not name.startswith("IPython.core."):
            return step
        step = step.tb_next
    return trace
