"""`diagnose.naming.features`: what of an expression and its place is looked at."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.naming.features import Use, features, uses


def of(code: str, expression: str) -> Use:
    """How an expression of a line is used."""
    tree = ast.parse(code)
    used = uses(tree)
    node = next(
        n for n in ast.walk(tree) if isinstance(n, ast.expr) and ast.unparse(n) == expression
    )
    return used.get(id(node), Use())


@pytest.mark.parametrize(
    ("code", "expression", "use"),
    [
        ("F.cross_entropy(sim, positives)", "positives", Use("cross_entropy", "1")),
        ("torch.where(mask, x, y)", "mask", Use("where", "0")),
        ("f(x, weight=w)", "w", Use("f", "weight")),
        ("a * mask", "mask", Use("Mult", "right")),
        ("total += loss", "total", Use("Add", "left")),
        ("x[idx]", "idx", Use("[]", "index")),
        ("x[idx]", "x", Use("[]", "value")),
        ("torch.cat([prompts, emb])", "emb", Use("cat", "0")),
        ("self.head(x)", "self.head", Use("()", "")),
        ("a == b", "b", Use("compare", "1")),
        ("q.add_(p)", "q", Use(".add_", "")),
        ("print", "print", Use()),
    ],
)
def test_how_an_expression_is_used(code: str, expression: str, use: Use) -> None:
    assert of(code, expression) == use


@pytest.mark.parametrize(
    ("expression", "among"),
    [
        ("batch['input_ids']", {"name=batch", "key=input_ids", "shape=name['']"}),
        ("self.pe[:, :n]", {"name=pe", "shape=self.[]", "letters=^pe"}),
        ("positionIds", {"part=position name", "part=ids name"}),
        ("outputs.logits.t()", {"name=logits", "owner=outputs", "shape=name..()"}),
        ("sinusoid(n)", {"name=sinusoid", "shape=()"}),
    ],
)
def test_what_an_expression_shows(expression: str, among: set[str]) -> None:
    node = ast.parse(expression, mode="eval").body
    assert among <= set(features(node, "forward", Use()))


@given(st.text(alphabet="ab_.[]()'\"+-*1 ,=", max_size=40))
def test_any_expression_has_features(text: str) -> None:
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return
    used = uses(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            found = features(node, "f", used.get(id(node), Use()))
            assert found[0] == "all"
            assert all(isinstance(feature, str) for feature in found)
