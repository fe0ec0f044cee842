"""Schemathesis asks the API what its description allows: no 5xx, and no answer that is not described."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from memory.conftest import postgresql, where  # noqa: F401  # fixtures
from sqlalchemy.exc import SQLAlchemyError
from web.conftest import LIMIT
from web.samples import TRACES

from diagnose.web import create_app


@pytest.fixture
def described(casebase_path: Path, where: str) -> Callable[..., Any]:  # noqa: F811
    """The description of a service that has a report; with some settings, what is asked has these."""
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

    def made(**settings: Any) -> Any:
        return create_app(casebase_path, max_bytes=LIMIT, store=where, **settings)

    app, text = made(), TRACES[0].read_text(encoding="utf-8")
    assert app.test_client().post("/api/v1/reports", json={"text": text}).status_code == 201

    def load(**settings: Any) -> Any:
        loaded = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", app)
        if settings:
            loaded.app = made(**settings)
        return loaded

    return load


def answers(described: Any, examples: int, token: str = "") -> dict[str, set[int]]:
    """What each operation answers to so many requests, all as it is described."""
    from schemathesis.specs.openapi import checks

    wanted = (
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
        checks.response_headers_conformance,
    )
    headers = {"Authorization": f"Bearer {token}"} if token else None

    def statuses(operation: Any) -> set[int]:
        seen = set()

        @settings(
            max_examples=examples,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            seen.add(case.call_and_validate(checks=wanted, headers=headers).status_code)

        ask()
        return seen

    operations = [result.ok() for result in described.get_all_operations()]
    found = {operation.label: statuses(operation) for operation in operations}
    assert "POST /api/v1/reports" in found
    assert len(found) == 9  # all but the description's own
    return found


def test_no_answer_is_undescribed(described: Callable[..., Any]) -> None:
    seen = set().union(*answers(described(), 12).values())
    assert max(seen) < 500


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_no_refusal_is_undescribed(described: Callable[..., Any]) -> None:
    closed = described(access="closed")
    assert set().union(*answers(closed, 1).values()) == {401}
    token = closed.app.extensions["diagnose-store"].issue("ana", ["triage"], "root")
    assert answers(closed, 1, token)["POST /api/v1/reports"] == {403}
    limited = described(rate="1 per hour")
    limited.app.test_client().get("/causes")
    assert set().union(*answers(limited, 1).values()) == {429}


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_what_a_store_that_has_gone_answers_is_described(
    described: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: object) -> None:
        raise SQLAlchemyError("the server has gone")

    monkeypatch.setattr("diagnose.memory.transactions.Session", gone)
    found = answers(described(), 1)
    for path in ("/reports/{id}", "/failures", "/failures/{id}"):
        assert found[f"GET /api/v1{path}"] == {503}
