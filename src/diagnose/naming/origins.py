"""Where a value may come from, and how often an expression like this one comes from each.

Learned from the source of public packages (training/learn_origins.py).
"""

from __future__ import annotations

from diagnose.naming.table import Table, shipped

#: Where a value may come from, in the order of the table's columns.
ORIGINS = (
    "given",  # a parameter of the function
    "batch",  # from the loader
    "made",  # made in the function by a factory such as torch.zeros
    "activation",  # returned by a layer
    "index",  # computed, as by argmax
    "mask",  # a comparison's
    "scalar",
    "host",  # NumPy's
    "loaded",  # from a checkpoint
    "parameter",
    "buffer",
    "attribute",  # a tensor kept as a plain attribute
    "state",  # an attribute that is set between calls
    "module",
    "listed",  # modules in a list or dict
    "criterion",
    "metric",
    "optimizer",
)
#: What is called, as opposed to what is a value.
CALLED = ("module", "listed", "criterion", "metric", "optimizer")
VALUES = tuple(name for name in ORIGINS if name not in CALLED)


def table() -> Table:
    """The table that comes with the package."""
    return shipped("origins")
