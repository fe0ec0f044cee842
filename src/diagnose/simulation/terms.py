"""In what a simulated machine is otherwise than a real one, for those who compare runs."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple


class Terms(NamedTuple):
    """The terms on which programs run.

    ``checked``: devices are compared, as on real machines; without it a program computes what it would
    if everything were in one place. ``one_stream``: all devices draw random numbers from one generator,
    so that a tensor has the same values wherever it is made. ``calls`` counts the operators that
    compute something, by the type of the device they run on. ``drawn``: what is made on the meta device is
    made on the cpu, with the values that it begins with. ``wrapped``: GPUs are counted in a circle, so that
    one that is not there is another.
    """

    checked: bool = True
    one_stream: bool = False
    calls: Counter[str] | None = None
    drawn: bool = False
    wrapped: bool = False


#: Those of a real machine.
CHECKED = Terms()
#: What memory that nobody has written to holds where runs are compared.
COMPARED = float("nan")
