"""Kernels that torch does not have: Triton's, and those of compiled extensions.

A kernel takes addresses of a GPU's memory; on simulated GPUs there is none. What can be told without one
is what comes before it: the questions that its launcher asks about the tensors, in its words (`launcher`,
`extensions`). After them Triton's kernels run in an interpreter, Triton's own where it is installed
(`interpreted`), else a small one (`standin`, `language`), and those of extensions are computed by torch's
operators (`arithmetic`).
"""

from __future__ import annotations

from diagnose.simulation.checks import DeviceChecks
from diagnose.simulation.driver import Driver
from diagnose.simulation.kernels import extensions, interpreted, standin
from diagnose.simulation.kernels.importable import Offers
from diagnose.simulation.patches import Patches


def install(driver: Driver, checks: DeviceChecks, patches: Patches) -> None:
    """Let programs import Triton and the known extensions until the patches are undone."""
    offers = Offers(patches)
    extensions.offer(offers, checks)
    interpreted.offer(offers, driver, checks, patches)
    standin.install(driver, checks, patches)
