"""The pages, by Flask's test client."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from web.conftest import LIMIT
from web.samples import AMBIGUOUS, HOSTILE_TRACEBACK, PAYLOADS, TRACES, UNKNOWN, hostile_diagnosis

from diagnose.casebase.store import Casebase, CasebaseError
from diagnose.model import Diagnosis, Failure, Frame, Report
from diagnose.web import create_app
from diagnose.web.engine import Engine

OUT_OF_MEMORY = """\
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    x = torch.zeros(10**12, device="cuda")
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB
"""


class Reader(HTMLParser):
    """What a browser would make of a page: its tags with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def links(self) -> list[str]:
        return [a["href"] or "" for tag, a in self.tags if tag == "a" and "href" in a]


def ask(client: FlaskClient, text: str, path: str = "/", **fields: object) -> Reader:
    response = client.post(path, data={"text": text, **fields})
    assert response.status_code == 200, response.text
    return Reader(response.text)


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.stem)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_answer_shows_what_the_pipeline_says(client: FlaskClient, trace: Path, lang: str) -> None:
    text = trace.read_text(encoding="utf-8")
    said = client.post("/api/v1/diagnoses", json={"text": text, "lang": lang}).get_json()
    page = ask(client, text, f"/?lang={lang}")

    assert said["verdict"] == "diagnosed"
    assert said["culprit"]["code"] in page.text
    assert f"{said['culprit']['file']}:{said['culprit']['line']}" in page.text
    ids = {attributes.get("id") for _, attributes in page.tags}
    for cause in said["causes"]:
        assert cause["title"] in page.text
        assert cause["why"] in page.text
        assert f"/causes/{cause['id']}?lang={lang}" in page.links()
        for evidence in cause["evidence"]:
            assert evidence["text"] in page.text
            if evidence["line"]:
                assert f"#L{evidence['line']}" in page.links()
                assert f"L{evidence['line']}" in ids
        for incident in cause["incidents"]:
            assert incident["url"] in page.links()
        for fix in cause["fixes"]:
            assert fix["title"] in page.text
            edit = "\n".join((fix["edit"]["before"], fix["edit"]["after"])) if fix["edit"] else ""
            for line in (edit or fix["code"] or fix["command"] or "").splitlines():
                assert line in page.text
        assert cause["verification"].strip() in page.text


def test_patch_lines_are_marked_as_removed_and_added(client: FlaskClient) -> None:
    trace = next(path for path in TRACES if path.stem == "easyedit-memit-delta")
    html = client.post("/", data={"text": trace.read_text(encoding="utf-8")}).text
    assert re.search(r'<span class="del">-\s*cur_out\[i, idx, :\] \+= delta', html)
    assert re.search(r'<span class="add">\+\s*cur_out\[i, idx, :\] \+= delta\.to\(', html)


def test_the_form_of_an_answer_holds_the_input_for_another_try(client: FlaskClient) -> None:
    text = "\n\n  first line is blank\n" + OUT_OF_MEMORY
    html = client.post("/", data={"text": text, "source": "rank0.log"}).text
    area = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", html, re.DOTALL)
    assert area and Reader(area[1]).text == text
    assert ("input", {"type": "hidden", "name": "source", "value": "rank0.log"}) in Reader(
        html
    ).tags


def test_another_failure_is_named_and_gets_no_device_cause(client: FlaskClient) -> None:
    page = ask(client, OUT_OF_MEMORY)
    assert "Not a device-placement error" in page.text
    assert "the GPU ran out of memory" in page.text
    assert "train.py:3" in page.text
    assert not [a for _, a in page.tags if a.get("class") == "card cause"]


def test_a_family_that_the_pages_do_not_know_is_still_answered(
    client_for: Callable[[Diagnosis], FlaskClient],
) -> None:
    report = Report("-", Failure("QuotaError", "over quota", "cluster-quota"))
    page = ask(client_for(Diagnosis(report, "unknown")), "x")
    assert "Not a device-placement error" in page.text
    assert "over quota" in page.text


def test_unknown_shows_the_nearest_incidents(
    client_for: Callable[[Diagnosis], FlaskClient],
) -> None:
    page = ask(client_for(UNKNOWN), "RuntimeError: devices differ")
    assert "No cause is sure enough" in page.text
    assert "A near incident" in page.text and "42 %" in page.text
    assert "https://example.org/1" in page.links()
    assert "/incidents/nobody" not in page.links()  # not in this case base


def test_deep_recursion_is_shown_by_its_ends(
    client_for: Callable[[Diagnosis], FlaskClient],
) -> None:
    frames = tuple(Frame(f"depth{n}.py", n) for n in range(1, 1001))
    report = Report("-", Failure("RecursionError", "too deep", "other"), frames=frames)
    page = ask(client_for(Diagnosis(report, "unknown")), "x")
    assert re.findall(r"depth(\d+)\.py", page.text) == [
        str(n) for n in (*range(1, 21), *range(921, 1001))
    ]
    assert "900 frames more" in page.text


def test_no_error_is_said_in_a_sentence(client: FlaskClient) -> None:
    page = ask(client, "epoch 1: loss 0.3\nepoch 2: loss 0.2\n")
    assert "No error found" in page.text
    assert "holds no exception" in page.text


def test_a_file_goes_before_pasted_text_and_keeps_its_name(client: FlaskClient) -> None:
    upload = (io.BytesIO(OUT_OF_MEMORY.encode("utf-16")), "'><b onclick=x>\u202e.log")
    page = ask(client, "Traceback", file=upload)
    assert "the GPU ran out of memory" in page.text
    assert "'><b onclick=x>\N{REPLACEMENT CHARACTER}.log" in page.text


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_file_is_read(client: FlaskClient, pack: Callable[[bytes], bytes]) -> None:
    upload = (io.BytesIO(pack(OUT_OF_MEMORY.encode())), "train.log.gz")
    assert "the GPU ran out of memory" in ask(client, "", file=upload).text


def test_an_untouched_file_field_is_no_file(client: FlaskClient) -> None:
    page = ask(client, OUT_OF_MEMORY, file=(io.BytesIO(b""), ""))
    assert "the GPU ran out of memory" in page.text


def test_the_commands_of_the_api_page_are_addresses_that_answer(client: FlaskClient) -> None:
    page = Reader(client.get("/api?lang=zh").text).text
    addresses = set(re.findall(r"http://localhost(/\S+)", page))
    assert addresses == {"/api/v1/diagnoses", "/api/v1/causes"}
    assert client.get("/api/v1/causes").status_code == 200
    body = json.loads(re.findall(r"-d '(.*?)'", page)[0])
    assert client.post("/api/v1/diagnoses", json=body).status_code == 200


def test_what_was_pasted_is_there_again_when_something_beside_it_is_refused(
    client: FlaskClient,
) -> None:
    text = "  Traceback of mine\n" + OUT_OF_MEMORY
    sent = {"text": text, "files": (io.BytesIO(b"PK no zip"), "net.zip")}
    response = client.post("/", data=sent, content_type="multipart/form-data")
    area = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", response.text, re.DOTALL)
    assert response.status_code == 400
    assert area and Reader(area[1]).text == text


@pytest.mark.parametrize("reply", ["", "=1", "operand-origin", "operand-origin=x", "a=-1", "a=²"])
def test_a_reply_that_no_page_wrote_changes_nothing(client: FlaskClient, reply: str) -> None:
    def causes(**fields: str) -> list[str]:
        return re.findall(r"<code>([a-z-]+)</code></span>", client.post("/", data=fields).text)

    assert causes(text=AMBIGUOUS, answer=reply) == causes(text=AMBIGUOUS) != []


@pytest.mark.parametrize("query", ["<script>alert(1)</script>", "\ud83d", '"*(', "x" * 5000, " "])
def test_a_search_takes_any_words(client: FlaskClient, query: str) -> None:
    page = client.get("/incidents", query_string={"q": query.encode("utf-8", "replace")})
    assert page.status_code == 200 and "<script>alert" not in page.text


@pytest.mark.parametrize(
    ("fields", "status", "sentence"),
    [
        ({}, 400, "nothing to diagnose"),
        ({"text": " \r\n\t "}, 400, "nothing to diagnose"),
        ({"file": (b"", "empty.log")}, 400, "nothing to diagnose"),
        ({"file": (bytes(range(7)) * 900, "core.bin")}, 400, "not text"),
        ({"file": (gzip.compress(bytes(range(7)) * 900), "core.gz")}, 400, "not text"),
        ({"file": (gzip.compress(b""), "empty.gz")}, 400, "nothing to diagnose"),
        ({"file": (b"\x1f\x8bjunk" * 9, "bad.gz")}, 400, "it is no valid gzip file"),
        ({"file": (bz2.compress(b"x" * 5_000_000), "bomb.bz2")}, 413, "Decompressed, this is"),
        ({"text": "x" * (LIMIT + 1)}, 413, "larger than 195 KiB"),
        ({"text": "\N{SNOWMAN}" * (LIMIT // 3 + 1)}, 413, "larger than"),
        ({"file": (b"x" * (LIMIT + 1), "big.log")}, 413, "larger than"),
        ({"text": "x" * (3 * LIMIT)}, 413, "larger than"),
    ],
)
def test_what_cannot_be_read_is_refused_above_a_form(
    client: FlaskClient, fields: dict[str, object], status: int, sentence: str
) -> None:
    if "file" in fields:
        data, name = fields["file"]  # type: ignore[misc]
        fields = {"file": (io.BytesIO(data), name)}
    response = client.post("/", data=fields, content_type="multipart/form-data")
    page = Reader(response.text)
    assert response.status_code == status
    assert sentence in page.text
    assert "textarea" in [tag for tag, _ in page.tags]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_text_of_exactly_the_limit_is_read(client: FlaskClient, newline: str) -> None:
    line = "all is well" + newline
    lines = LIMIT // len("all is well\n")
    assert "No error found" in ask(client, line * lines).text


def test_text_of_a_log_is_text_in_every_place(
    client_for: Callable[[Diagnosis], FlaskClient],
) -> None:
    page = ask(client_for(hostile_diagnosis()), HOSTILE_TRACEBACK, source=" ".join(PAYLOADS))
    for payload in PAYLOADS:
        assert payload in page.text
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"svg", "iframe"}
    assert [a for tag, a in page.tags if tag == "script"] == [
        {"src": "/static/page.js?v=0.1.0", "defer": None}
    ]
    assert [a["src"] for tag, a in page.tags if tag == "img"] == ["/static/icon.svg?v=0.1.0"]
    assert all(not name.startswith("on") for _, a in page.tags for name in a)
    assert all(link.startswith(("/", "#", "https://")) for link in page.links())


def test_verification_program_is_a_download_with_a_fixed_name(client: FlaskClient) -> None:
    text = AMBIGUOUS
    cause = client.post("/api/v1/diagnoses", json={"text": text}).get_json()["causes"][1]
    response = client.post("/verification", data={"text": text, "cause": cause["id"]})
    assert response.status_code == 200
    assert response.text == cause["verification"]
    assert response.headers["Content-Disposition"] == 'attachment; filename="verify.py"'
    compile(response.text, "verify.py", "exec")


def test_verification_is_refused_to_other_sites_and_for_other_causes(client: FlaskClient) -> None:
    fields = {"text": TRACES[0].read_text(encoding="utf-8"), "cause": "meta-tensor"}
    assert client.post("/verification", data=fields).status_code == 400
    cross = {"Sec-Fetch-Site": "cross-site"}
    assert client.post("/verification", data=fields, headers=cross).status_code == 403


def test_every_cause_and_incident_has_its_page_in_both_languages(
    client: FlaskClient, casebase: Casebase
) -> None:
    index = Reader(client.get("/causes?lang=en").text)
    for lang in ("en", "zh"):
        for id, cause in casebase.causes.items():
            assert f"/causes/{id}?lang=en" in index.links()
            page = Reader(client.get(f"/causes/{id}?lang={lang}").text)
            assert cause.example.strip() in page.text
            if lang == "en":
                assert cause.tell in page.text
                assert all(fix.title in page.text for fix in cause.fixes)
                assert all((fix.after or "") in page.text for fix in cause.fixes)
        for id, incident in casebase.incidents.items():
            page = Reader(client.get(f"/incidents/{id}?lang={lang}").text)
            assert incident.message in page.text
            assert f"/causes/{incident.cause}?lang={lang}" in page.links()
            assert {source.url for source in incident.sources} <= set(page.links())


def test_reproduction_is_a_download(client: FlaskClient, casebase: Casebase) -> None:
    response = client.get("/incidents/easyedit-memit-delta/reproduce.py")
    assert response.text == casebase.incidents["easyedit-memit-delta"].reproduce
    assert response.headers["Content-Disposition"] == 'attachment; filename="reproduce.py"'


@pytest.mark.parametrize(
    "path", ["/causes/nothing", "/incidents/nothing", "/incidents/x/reproduce.py", "/x"]
)
def test_missing_pages_say_so(client: FlaskClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 404
    assert "nothing at this address" in response.text


def test_wrong_method_names_the_right_one(client: FlaskClient) -> None:
    response = client.post("/causes", data={"text": "x"})
    assert response.status_code == 405
    assert "GET" in response.headers["Allow"]


@pytest.mark.parametrize(
    ("path", "accept", "lang"),
    [
        ("/", "zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"),
        ("/", "de,fr;q=0.5", "en"),
        ("/?lang=zh", "en", "zh-Hans"),
        ("/?lang=en", "zh", "en"),
        ("/?lang=xx", "zh", "zh-Hans"),
        ("/causes/nothing?lang=zh", "en", "zh-Hans"),
    ],
)
def test_language_is_the_addresses_else_the_browsers(
    client: FlaskClient, path: str, accept: str, lang: str
) -> None:
    html = client.get(path, headers={"Accept-Language": accept}).text
    assert f'<html lang="{lang}">' in html


def test_language_switch_of_an_answer_asks_again_in_the_other_language(
    client: FlaskClient,
) -> None:
    page = ask(client, OUT_OF_MEMORY)
    assert ("button", {"form": "again", "formaction": "/?lang=zh", "lang": "zh-Hans"}) in page.tags


def test_healthz_tells_whether_the_case_base_is_there(
    client: FlaskClient, casebase: Casebase, tmp_path: Path
) -> None:
    assert client.get("/healthz").get_json()["causes"] == len(casebase.causes)
    missing = create_app(tmp_path / "none.sqlite").test_client()
    assert missing.get("/healthz").status_code == 503
    assert missing.get("/causes").status_code == 503
    assert str(tmp_path) not in missing.get("/causes").text


@pytest.mark.faults
def test_an_unexpected_error_tells_nothing(casebase: Casebase) -> None:
    def fail(submission: object, base: object) -> Diagnosis:
        raise RuntimeError("secret of the log")

    app = create_app(engine=Engine(lambda lang: casebase, fail))
    for path in ("/", "/api/v1/diagnoses"):
        response = app.test_client().post(
            path, data={"text": "x"}, content_type="multipart/form-data"
        )
        assert response.status_code == 500
        assert "secret" not in response.text
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]


def test_a_case_base_that_breaks_later_is_503(casebase: Casebase) -> None:
    def fail(lang: object) -> Casebase:
        raise CasebaseError("cannot be read")

    app = create_app(engine=Engine(fail, lambda submission, base: UNKNOWN))
    assert app.test_client().post("/", data={"text": "x"}).status_code == 503


@pytest.mark.parametrize(
    "path", ["/", "/causes", "/nothing", "/static/style.css", "/api/v1/causes"]
)
def test_security_headers_are_on_every_response(client: FlaskClient, path: str) -> None:
    headers = client.get(path).headers
    policy = dict(rule.split(" ", 1) for rule in headers["Content-Security-Policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Set-Cookie" not in headers


def test_below_a_path_of_a_proxy_every_address_keeps_it(client: FlaskClient) -> None:
    html = client.post(
        "/", data={"text": AMBIGUOUS}, environ_overrides={"SCRIPT_NAME": "/tools"}
    ).text
    addresses = re.findall(r'(?:href|src|action|formaction)="(/[^"]*)"', html)
    assert len(addresses) > 10
    assert all(address.startswith("/tools/") for address in addresses)


def test_answers_are_not_cached_and_static_files_are(client: FlaskClient) -> None:
    assert client.post("/", data={"text": "x"}).headers["Cache-Control"] == "no-store"
    assert "max-age=86400" in client.get("/static/style.css").headers["Cache-Control"]


def test_uploads_never_touch_the_disk(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("a temporary file was opened")

    for name in ("TemporaryFile", "SpooledTemporaryFile", "NamedTemporaryFile", "mkstemp"):
        monkeypatch.setattr(f"tempfile.{name}", refuse)
        monkeypatch.setattr(f"werkzeug.formparser.{name}", refuse, raising=False)
    large = create_app(max_bytes=4_000_000, engine=app.extensions["diagnose"]).test_client()
    page = ask(large, "", file=(io.BytesIO(b"fine\n" * 500_000), "a.log"))
    assert "No error found" in page.text


def test_max_bytes_must_be_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        create_app(max_bytes=0)
