"""Tracebacks, one module a printed form: `reader` makes events of lines, `assembly` traces of events."""
