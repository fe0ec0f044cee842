"""Parsing: from bytes (a pasted traceback, a training log, a notebook) to a `Report`."""

from diagnose.parsing.report import Seen, parse, parse_failures, parse_stream

__all__ = ["Seen", "parse", "parse_failures", "parse_stream"]
