"""JSON Schemas of kb/'s files, for editors: what may stand where, offered as one types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from diagnose.compiling.kbfile import Files
from diagnose.compiling.models import KINDS
from diagnose.compiling.reader import known_ids


def schemas(files: Files) -> dict[str, dict[str, Any]]:
    """For each kind of file, by its name or glob, its JSON Schema with the ids that ``files`` define."""
    known = known_ids(files)
    found = {}
    for kind in KINDS:
        schema = kind.model.model_json_schema()
        for node in _nodes(schema):
            ids = known.get(node.pop("known", ""))
            if ids:
                node["enum"] = sorted(ids)
        found[kind.glob] = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
    return found


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every table of a schema."""
    if isinstance(value, dict):
        yield value
    for inner in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from _nodes(inner)


def file_name(glob: str) -> str:
    """What the schema of a kind of file is called: ``facts.json``, ``causes.json``, ``case.json``."""
    folder, _, name = glob.rpartition("/")
    stem = folder if name.startswith("*") and folder else name.removesuffix(".toml").lstrip("*")
    return f"{stem}.json"


def write(files: Files, folder: Path) -> list[Path]:
    """Writes the schemas and a taplo.toml that gives each kind of file its own; returns what was written.

    Raises:
        OSError: it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written, rules = [], []
    for glob, schema in schemas(files).items():
        path = folder / file_name(glob)
        path.write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        rules.append(
            f'[[rule]]\ninclude = ["**/{glob.lstrip("*")}"]\n\n'
            f"[rule.schema]\npath = {json.dumps(path.as_posix())}\n"
        )
        written.append(path)
    taplo = folder / "taplo.toml"
    taplo.write_text("\n".join(rules), encoding="utf-8")
    return [*written, taplo]
