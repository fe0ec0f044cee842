"""``match``: whether a pattern fits, and what it binds."""

from __future__ import annotations

import ast

from diagnose.placement.assignments import bind, part
from diagnose.placement.machine import Machine
from diagnose.placement.values import Const, Frame, Unknown, Value


def matches(
    machine: Machine, pattern: ast.pattern, subject: Value, frame: Frame, node: ast.stmt
) -> bool | None:
    """Whether a pattern fits a value; None where that is not known. The names that it has are bound."""
    match pattern:
        case ast.MatchValue(value=value):
            wanted = machine.evaluate(machine, value, frame)
            if isinstance(wanted, Const) and isinstance(subject, Const):
                return wanted.value == subject.value
            return None
        case ast.MatchSingleton(value=value):
            return subject.value is value if isinstance(subject, Const) else None
        case ast.MatchOr(patterns=patterns):
            told = [matches(machine, one, subject, frame, node) for one in patterns]
            return True if True in told else None if None in told else False
        case ast.MatchAs(pattern=inner, name=name):
            if name is not None:
                bind(frame, name, subject, node)
            return True if inner is None else matches(machine, inner, subject, frame, node)
        case ast.MatchSequence(patterns=patterns):
            for position, one in enumerate(patterns):
                matches(machine, one, part(subject, position), frame, node)
        case ast.MatchClass(patterns=patterns, kwd_patterns=named):
            for one in (*patterns, *named):
                matches(machine, one, Unknown(), frame, node)
        case ast.MatchMapping(patterns=patterns):
            for one in patterns:
                matches(machine, one, Unknown(), frame, node)
    return None
