"""The HTTP API: its contract, its refusals, and its description."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from web.conftest import LIMIT
from web.samples import AMBIGUOUS, TRACES

from diagnose.casebase.store import Casebase
from diagnose.pipeline import diagnose
from diagnose.rendering.json import as_dict

URL = "/api/v1/diagnoses"
TEXT = TRACES[0].read_text(encoding="utf-8")


@pytest.fixture
def described(client: FlaskClient) -> dict[str, Any]:
    return json.loads(client.get("/api/v1/openapi.json").data)


def mistakes(
    value: Any, schema: dict[str, Any], spec: dict[str, Any], at: str = "$"
) -> Iterator[str]:
    """Where a value breaks a schema, for the keywords that openapi.json uses.

    Stricter than JSON Schema in one thing: a property that is not described is a mistake.
    """
    while "$ref" in schema:
        node: Any = spec
        for part in schema["$ref"].removeprefix("#/").split("/"):
            node = node[part]
        schema = node
    if "anyOf" in schema:
        if all(list(mistakes(value, option, spec)) for option in schema["anyOf"]):
            yield f"{at}: none of the alternatives"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{at}: {value!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r}"
    kinds = {
        "string": str, "integer": int, "number": (int, float), "object": dict, "array": list,
        "null": type(None), "boolean": bool,
    }  # fmt: skip
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(isinstance(value, kinds[name]) for name in names):
            yield f"{at}: {value!r} is no {names}"
            return
    if "minimum" in schema and not schema["minimum"] <= value <= schema["maximum"]:
        yield f"{at}: {value!r}"
    if isinstance(value, dict):
        yield from (
            f"{at}.{key} is missing" for key in schema.get("required", ()) if key not in value
        )
        rest = schema.get("additionalProperties")
        for key, item in value.items():
            inner = schema.get("properties", {}).get(key, rest)
            if isinstance(inner, dict):
                yield from mistakes(item, inner, spec, f"{at}.{key}")
            elif "properties" in schema:
                yield f"{at}.{key} is not described"
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from mistakes(item, schema["items"], spec, f"{at}[{number}]")


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.stem)
def test_answer_is_the_pipelines_in_each_way_of_asking(
    client: FlaskClient, casebase: Casebase, trace: Path
) -> None:
    data = trace.read_bytes()
    expected = as_dict(diagnose(data, "-", casebase=casebase, top=2))
    asked = [
        client.post(f"{URL}?top=2&lang=en", data=data, content_type="text/plain; charset=utf-8"),
        client.post(URL, json={"text": data.decode(), "top": 2, "source": "-"}),
        client.post(
            URL, data={"text": data.decode(), "top": "2"}, content_type="multipart/form-data"
        ),
        client.post(URL, data={"file": (io.BytesIO(data), "a.log"), "top": "2", "source": "-"}),
    ]
    for response in asked:
        assert response.status_code == 200, response.text
        assert response.mimetype == "application/json"
        assert response.get_json() == expected


@pytest.mark.parametrize("top", [1, 2, 3])
def test_top_limits_the_causes(client: FlaskClient, top: int) -> None:
    answer = client.post(URL, json={"text": AMBIGUOUS, "top": top}).get_json()
    assert len(answer["causes"]) == top


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "text",
    [*(path.read_text(encoding="utf-8") for path in TRACES), "nothing", "KeyError: 'lr'\n"],
    ids=[*(path.stem for path in TRACES), "no-error", "another-error"],
)
def test_answer_fits_the_description(
    client: FlaskClient, described: dict[str, Any], text: str, lang: str
) -> None:
    answer = client.post(URL, json={"text": text, "lang": lang}).get_json()
    schema = {"$ref": "#/components/schemas/Diagnosis"}
    assert list(mistakes(answer, schema, described)) == []


def test_the_description_would_catch_a_change(described: dict[str, Any]) -> None:
    schema = {"$ref": "#/components/schemas/Diagnosis"}
    answer = {"schema": 2, "verdict": "sure", "causes": [{"id": 1}], "new": 1}
    found = "\n".join(mistakes(answer, schema, described))
    for part in (
        "$.schema: 2",
        "$.verdict: 'sure'",
        "$.causes[0].id",
        "$.new is not",
        "$.frames is",
    ):
        assert part in found


def test_a_compressed_body_gets_the_answer_of_its_text(client: FlaskClient) -> None:
    packed = gzip.compress(TEXT.encode())
    plain = client.post(URL, data=TEXT.encode(), content_type="text/plain").get_json()
    assert plain["verdict"] == "diagnosed"
    assert client.post(URL, data=packed, content_type="text/plain").get_json() == plain
    torn = client.post(URL, data={"file": (io.BytesIO(packed[:-4]), "torn.gz")}).get_json()
    assert torn["causes"] == plain["causes"]


def test_description_and_routes_are_the_same(app: Flask, described: dict[str, Any]) -> None:
    routes = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in app.url_map.iter_rules()
        for method in rule.methods or ()
        if rule.rule.startswith("/api/") and method not in ("HEAD", "OPTIONS")
    }
    assert routes == {
        (path, method) for path, item in described["paths"].items() for method in item
    }


def test_every_reference_of_the_description_leads_somewhere(described: dict[str, Any]) -> None:
    for reference in re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(described)):
        node: Any = described
        for part in reference.split("/"):
            assert part in node, reference
            node = node[part]


def test_all_incidents_come_page_by_page_and_fit_the_description(
    client: FlaskClient, described: dict[str, Any], casebase: Casebase
) -> None:
    of_pages = described["paths"]["/api/v1/incidents"]["get"]["responses"]["200"]["content"]
    found, after = [], ""
    while after is not None:
        page = client.get("/api/v1/incidents", query_string={"after": after}).get_json()
        assert list(mistakes(page, of_pages["application/json"]["schema"], described)) == []
        found += page["incidents"]
        after = page["next"]
    assert [one["id"] for one in found] == sorted(casebase.incidents)
    for one in found[::25]:
        full = client.get(f"/api/v1/incidents/{one['id']}?lang=zh").get_json()
        assert list(mistakes(full, {"$ref": "#/components/schemas/Incident"}, described)) == []
        assert full["cause"] == one["cause"]
    assert client.get("/api/v1/incidents/none").status_code == 404
    of_one = client.get("/api/v1/incidents?cause=meta-tensor").get_json()["incidents"]
    assert {one["cause"] for one in of_one} == {"meta-tensor"}


def test_causes_fit_the_description(
    client: FlaskClient, described: dict[str, Any], casebase: Casebase
) -> None:
    listed = client.get("/api/v1/causes?lang=zh").get_json()
    paths = described["paths"]
    schema = paths["/api/v1/causes"]["get"]["responses"]["200"]["content"]["application/json"]
    assert list(mistakes(listed, schema["schema"], described)) == []
    assert [cause["id"] for cause in listed["causes"]] == list(casebase.causes)
    for cause in listed["causes"]:
        full = client.get(f"/api/v1/causes/{cause['id']}").get_json()
        assert list(mistakes(full, {"$ref": "#/components/schemas/Cause"}, described)) == []
        assert client.get(full["url"]).status_code == 200


@pytest.mark.parametrize(
    ("options", "status", "sentence"),
    [
        ({"data": b"", "content_type": "text/plain"}, 400, "nothing to diagnose"),
        ({"data": b" \n", "content_type": "text/plain"}, 400, "nothing to diagnose"),
        ({"data": bytes(5000), "content_type": "text/plain"}, 400, "not text"),
        ({"data": b"x" * (LIMIT + 1), "content_type": "text/plain"}, 413, "larger than 195 KiB"),
        ({"data": b"\x1f\x8bjunk", "content_type": "text/plain"}, 400, "no valid gzip file"),
        (
            {"data": gzip.compress(b"x" * 9_000_000), "content_type": "text/plain"},
            413,
            "Decompressed, this is larger than 195 KiB",
        ),
        ({"data": b"x" * (3 * LIMIT), "content_type": "text/plain"}, 413, "larger than"),
        ({"json": {"text": "x" * (LIMIT + 1)}}, 413, "larger than"),
        ({"data": b"x"}, 415, "Content-Type: text/plain"),
        ({"data": {"text": "x"}}, 415, "Content-Type: text/plain"),
        ({"data": b"<x/>", "content_type": "application/xml"}, 415, "must be text/plain"),
        ({"data": b"{", "content_type": "application/json"}, 400, "not valid JSON"),
        ({"data": b"\xff\xfe{", "content_type": "application/json"}, 400, "not valid JSON"),
        ({"data": b"[" * 90_000, "content_type": "application/json"}, 400, "nested too deeply"),
        (
            {"data": b'{"text": 1' + b"0" * 5000 + b"}", "content_type": "application/json"},
            400,
            "JSON",
        ),
        ({"json": ["x"]}, 400, "must be an object"),
        ({"json": {"source": "a"}}, 400, "under the key text"),
        ({"json": {"text": 3}}, 400, "under the key text"),
        ({"json": {"text": ""}}, 400, "nothing to diagnose"),
        ({"json": {"text": "x", "txet": 1}}, 400, "unknown key txet"),
        ({"json": {"text": "x", "source": 1}}, 400, "source must be"),
        ({"json": {"text": "x", "lang": "de"}}, 400, "one of en, zh"),
        ({"json": {"text": "x", "lang": ["en"]}}, 400, "one of en, zh"),
        ({"json": {"text": "x", "top": 0}}, 400, "from 1 to 10"),
        ({"json": {"text": "x", "top": 11}}, 400, "from 1 to 10"),
        ({"json": {"text": "x", "top": True}}, 400, "from 1 to 10"),
        ({"json": {"text": "x", "top": 2.5}}, 400, "from 1 to 10"),
        ({"json": {"text": "x", "top": "\N{SUPERSCRIPT TWO}"}}, 400, "from 1 to 10"),
        (
            {"data": b"x", "content_type": "text/plain", "query_string": {"top": "x"}},
            400,
            "1 to 10",
        ),
        (
            {"data": b"x", "content_type": "text/plain", "query_string": {"lang": "x"}},
            400,
            "en, zh",
        ),
    ],
)
def test_refusals_are_problems_with_a_sentence(
    client: FlaskClient,
    described: dict[str, Any],
    options: dict[str, Any],
    status: int,
    sentence: str,
) -> None:
    response = client.post(URL, **options)
    problem = json.loads(response.data)
    assert response.status_code == status == problem["status"]
    assert response.mimetype == "application/problem+json"
    assert sentence in problem["detail"]
    assert list(mistakes(problem, {"$ref": "#/components/schemas/Problem"}, described)) == []
    assert str(status) in described["paths"][URL]["post"]["responses"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", URL, 405),
        ("GET", "/api/v1/causes/nothing", 404),
        ("GET", "/api/v2", 404),
        ("GET", "/api/v1/causes?lang=de", 400),
    ],
)
def test_other_errors_are_problems_too(
    client: FlaskClient, method: str, path: str, status: int
) -> None:
    response = client.open(path, method=method)
    assert response.status_code == status
    assert response.mimetype == "application/problem+json"


def test_lone_surrogates_do_not_break_the_answer(client: FlaskClient) -> None:
    body = b'{"text": "KeyError: \\ud800\\n", "source": "\\udfff.log"}'
    response = client.post(URL, data=body, content_type="application/json")
    assert response.status_code == 200
    assert response.get_json()["source"] == "?.log"


def test_a_files_name_becomes_the_source(client: FlaskClient) -> None:
    upload = {"file": (io.BytesIO(TEXT.encode("utf-16")), "rank 0.log")}
    answer = client.post(URL, data=upload).get_json()
    assert answer["source"] == "rank 0.log"
    assert answer["verdict"] == "diagnosed"


def test_source_in_a_query_is_not_repeated(client: FlaskClient) -> None:
    answer = client.post(f"{URL}?source=secret", data=TEXT, content_type="text/plain").get_json()
    assert answer["source"] == "-"
