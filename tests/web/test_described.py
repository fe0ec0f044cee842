"""Schemathesis asks the API what its description allows: no 5xx, and no answer that is not described."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from web.conftest import LIMIT
from web.samples import TRACES

from diagnose.web import create_app

#: Of each operation.
EXAMPLES = 12


@pytest.fixture
def operations(casebase_path: Path, tmp_path: Path) -> Iterator[Any]:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    app = create_app(casebase_path, max_bytes=LIMIT, store=str(tmp_path / "memory.sqlite"))
    text = TRACES[0].read_text(encoding="utf-8")
    assert app.test_client().post("/api/v1/reports", json={"text": text}).status_code == 201
    described = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", app)
    return (result.ok() for result in described.get_all_operations())


def test_no_answer_is_undescribed(operations: Iterator[Any]) -> None:
    from schemathesis import checks
    from schemathesis.specs.openapi import checks as described

    wanted = (
        checks.not_a_server_error,
        described.status_code_conformance,
        described.content_type_conformance,
        described.response_schema_conformance,
    )
    asked = []
    for operation in operations:

        @settings(
            max_examples=EXAMPLES,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            case.call_and_validate(checks=wanted)

        ask()
        asked.append(operation.label)
    assert "POST /api/v1/reports" in asked
    assert len(asked) == 7  # all but the description's own
