"""All of the answer as JSON: every cause as whole as the first (schema 1, see docs/json.md)."""

from __future__ import annotations

import json

from diagnose.model import Diagnosis
from diagnose.rendering.json import as_dict


def render(diagnosis: Diagnosis, *, columns: int = 80, color: bool = False) -> str:
    """The whole answer as one line of JSON, whatever the terminal."""
    return json.dumps(as_dict(diagnosis), ensure_ascii=False)
