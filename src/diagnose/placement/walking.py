"""Names that moved to `semantics`."""

from diagnose.placement.semantics import Function, functions_by_line, path_to, walk

__all__ = ["Function", "functions_by_line", "path_to", "walk"]
