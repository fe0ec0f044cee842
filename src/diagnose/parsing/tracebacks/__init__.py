"""Tracebacks: one module a printed form; `reader` turns lines into events, `assembly` events into traces."""
