"""The pages over a store: an answer's own address, what fixed it, failures, merges, splits."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import pytest
from flask.testing import FlaskClient
from web.conftest import LIMIT, Visitor, has
from web.samples import AMBIGUOUS, HOSTILE_TRACEBACK, PAYLOADS, TRACES
from web.test_api import mistakes
from web.test_api import test_description_and_routes_are_the_same as same_routes
from web.test_browser import _violations

from diagnose.memory.lookup import StoreError
from diagnose.memory.records import Scope
from diagnose.memory.store import HOUR, Store
from diagnose.web import create_app
from diagnose.web.access import PUBLIC, SCOPES
from diagnose.web.remembering import chart

ONE, TWO = (path.read_text(encoding="utf-8") for path in TRACES[:2])
SECRET = "hf_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3f"


@pytest.fixture
def client(casebase_path: Path, tmp_path: Path) -> FlaskClient:
    app = create_app(casebase_path, max_bytes=LIMIT, store=str(tmp_path / "memory.sqlite"))
    return app.test_client()


def store_of(client: FlaskClient) -> Store:
    found: Store = client.application.extensions["diagnose-store"]
    return found


def paste(client: FlaskClient, text: str, **fields: str) -> str:
    """The address of the answer."""
    answer = client.post("/", data={"text": text, **fields})
    assert answer.status_code == 303
    return str(answer.location)


def group_of(client: FlaskClient, text: str) -> str:
    """Saves a report; the address of its failure."""
    address = paste(client, text)
    assert client.post(f"{address}/keep").status_code == 303
    return re.findall(r"/failures/\w+", client.get(address).text)[0]


def test_an_answer_has_an_address_for_an_hour(client: FlaskClient) -> None:
    store_of(client)._now = lambda: 1_793_700_000
    address = paste(client, ONE, source="job.log")
    assert re.fullmatch(r"/r/[\w-]{16}", address)
    page = client.get(address)
    assert page.status_code == 200
    assert "job.log" in page.text
    store_of(client)._now = lambda: 1_793_700_001 + HOUR
    assert client.get(address).status_code == 404


def test_a_saved_report_stays_and_counts_once(client: FlaskClient) -> None:
    store_of(client)._now = lambda: 1_793_700_000
    address = paste(client, ONE)
    for _ in range(2):
        assert client.post(f"{address}/keep").location == address
    store_of(client)._now = lambda: 1_793_700_001 + HOUR
    assert "Seen once, on 3 Nov 2026" in client.get(address).text


def test_what_was_taken_out_is_said_and_nowhere_else(client: FlaskClient) -> None:
    address = paste(client, f"HF_TOKEN={SECRET}\n{ONE.replace('/home/user/', '/home/ana/')}")
    page = client.get(address).text
    assert "Taken out before it was stored: 1 token, 1 home folder." in page
    assert SECRET not in page
    assert "/home/ana" not in page


def test_what_was_replied_shows_in_because(client: FlaskClient) -> None:
    page = client.get(paste(client, AMBIGUOUS)).text
    reply = re.findall(r'name="answer" value="([\w-]+=\d+)"', page)[0]
    again = client.get(paste(client, AMBIGUOUS, answer=reply)).text
    assert "You answered:" in again


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/keep", {"Sec-Fetch-Site": "cross-site"}, 403),
        ("/keep", {"Sec-Fetch-Site": "same-site"}, 403),
        ("/keep", {"Origin": "https://elsewhere.example"}, 403),
        ("/keep", {"Sec-Fetch-Site": "same-origin", "Origin": "null"}, 303),
        ("/fix", {}, 400),
        ("/delete", {}, 303),
    ],
)
def test_who_may_write(
    client: FlaskClient, path: str, headers: dict[str, str], status: int
) -> None:
    assert client.post(paste(client, ONE) + path, headers=headers).status_code == status


@pytest.mark.parametrize(
    ("path", "form", "status"),
    [
        ("/fix", {"text": "x", "outcome": "nonsense"}, 400),
        ("/fix", {"text": "x", "link": "javascript:alert(1)"}, 400),
        ("/fix", {"text": "x", "cause": "nonsense"}, 303),
        ("/merge", {}, 400),
        ("/merge", {"other": "nothing"}, 404),
        ("/split", {"variant": "nothing"}, 400),
        ("/status", {"status": "nonsense"}, 400),
        ("/status", {"status": "fixed", "fixed_in": "x" * 9999}, 303),
    ],
)
def test_forms_that_nobody_filled_in(
    client: FlaskClient, path: str, form: dict[str, str], status: int
) -> None:
    address = paste(client, ONE) if path == "/fix" else group_of(client, ONE)
    assert client.post(address + path, data=form).status_code == status


@pytest.mark.parametrize("address", ["/r/nothing", "/failures/nothing"])
@pytest.mark.parametrize("path", ["", "/keep", "/fix", "/delete", "/merge", "/split", "/status"])
def test_what_is_not_there(client: FlaskClient, address: str, path: str) -> None:
    form = {"text": "x", "status": "open", "other": "y", "variant": "z"}
    done = client.post(address + path, data=form) if path else client.get(address)
    assert done.status_code in (400, 404)


def test_without_a_store_there_are_no_such_pages(casebase_path: Path) -> None:
    client = create_app(casebase_path).test_client()
    assert client.get("/failures").status_code == 404
    page = client.post("/", data={"text": ONE})
    assert page.status_code == 200
    assert "Save this report" not in page.text


def test_a_store_that_fails_costs_no_answer(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(Store, "add", full)
    monkeypatch.setattr(Store, "groups", full)
    assert "cause-1" in client.post("/", data={"text": ONE}).text
    assert client.get("/failures").status_code == 503


@pytest.mark.faults
@pytest.mark.parametrize("fault", [StoreError("it is locked"), IndexError("x")])
def test_a_fault_in_what_is_remembered_costs_only_that(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    address = paste(client, ONE)
    client.post(f"{address}/fix", data={"text": "pass device="})
    asked = {"json": {"text": ONE}}
    assert client.post("/api/v1/diagnoses", **asked).get_json()["seen"]["count"] == 1

    def fails(*_: object) -> None:
        raise fault

    monkeypatch.setattr("diagnose.memory.lookup.seen", fails)
    page = client.get(address)
    assert page.status_code == 200
    assert "cause-1" in page.text
    assert "pass device=" not in page.text
    assert client.post(f"{address}/fix", data={"text": "pass device="}).status_code == 303
    answer = client.post("/api/v1/diagnoses", **asked).get_json()
    assert (answer["seen"], answer["incomplete"]) == (None, ["seen"])
    assert client.post("/api/v1/reports", **asked).status_code == 201


def test_two_workers_see_the_same(casebase_path: Path, tmp_path: Path) -> None:
    one, two = (
        create_app(casebase_path, store=str(tmp_path / "m.sqlite")).test_client() for _ in range(2)
    )
    assert two.get(paste(one, ONE)).status_code == 200


def test_the_chart_shows_the_latest_days() -> None:
    assert chart([]) is None
    found = chart([(10, 1), (200, 2), (203, 4)])
    assert found is not None
    assert [(bar.count, bar.high) for bar in found.bars] == [(2, 30.0), (4, 60.0)]
    assert found.bars[1].x - found.bars[0].x == 30


# --- the API ----------------------------------------------------------------------------------------


@pytest.fixture
def described(client: FlaskClient) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/v1/openapi.json").get_json()
    return found


def test_reports_and_failures_fit_the_description(
    client: FlaskClient, described: dict[str, Any]
) -> None:
    same_routes(client.application, described)
    sent = client.post(
        "/api/v1/reports",
        json={"text": f"HF_TOKEN={SECRET}\n{ONE}", "host": "node7", "job": "4711", "ranks": [3]},
    )
    assert sent.status_code == 201
    again = client.post("/api/v1/reports", json={"text": ONE, "job": "4711", "ranks": [0, 4]})
    assert again.status_code == 200
    assert again.get_json()["id"] == sent.get_json()["id"]
    assert sent.get_json()["removed"] == {"token": 1}
    failure = f"/api/v1/failures/{sent.get_json()['failure']}"
    report = f"/api/v1/reports/{sent.get_json()['id']}"
    for answer, schema in (
        (sent, "Kept"),
        (again, "Kept"),
        (client.get(report), "Report"),
        (client.get(failure), "FailureInFull"),
    ):
        named = {"$ref": f"#/components/schemas/{schema}"}
        assert list(mistakes(answer.get_json(), named, described)) == []
    assert client.get(failure).get_json()["ranks"] == [0, 3, 4]
    assert SECRET not in client.get(report).text
    listed = client.get("/api/v1/failures?q=memit").get_json()
    schema = described["paths"]["/api/v1/failures"]["get"]["responses"]["200"]
    schema = schema["content"]["application/json"]["schema"]
    assert list(mistakes(listed, schema, described)) == []


@pytest.mark.parametrize(
    ("path", "options", "status"),
    [
        ("/api/v1/reports", {"data": ONE, "content_type": "text/plain"}, 415),
        ("/api/v1/reports", {"json": {}}, 400),
        ("/api/v1/reports", {"json": {"text": ONE, "nonsense": 1}}, 400),
        ("/api/v1/reports", {"json": {"text": ONE, "ranks": ["a"]}}, 400),
        ("/api/v1/reports", {"json": {"text": ONE, "ranks": [-1]}}, 400),
        ("/api/v1/reports", {"json": {"text": ONE, "host": 1}}, 400),
        ("/api/v1/reports", {"json": {"text": "all is well"}}, 422),
        ("/api/v1/reports", {"json": {"text": "x" * (LIMIT + 1)}}, 413),
        (
            "/api/v1/reports",
            {"json": {"text": ONE}, "headers": {"Sec-Fetch-Site": "cross-site"}},
            403,
        ),
        ("/api/v1/reports/nothing", None, 404),
        ("/api/v1/failures/nothing", None, 404),
        ("/api/v1/failures?status=nonsense", None, 400),
    ],
)
def test_refusals_are_problems(
    client: FlaskClient,
    described: dict[str, Any],
    path: str,
    options: dict[str, Any] | None,
    status: int,
) -> None:
    answer = client.get(path) if options is None else client.post(path, **options)
    assert (answer.status_code, answer.mimetype) == (status, "application/problem+json")
    named = {"$ref": "#/components/schemas/Problem"}
    assert list(mistakes(json.loads(answer.data), named, described)) == []
    template = re.sub(
        r"/nothing|\?.*", lambda found: "/{id}" if found[0] == "/nothing" else "", path
    )
    method = "get" if options is None else "post"
    assert str(status) in described["paths"][template][method]["responses"]


def test_metrics_count_what_the_store_holds(client: FlaskClient) -> None:
    address = paste(client, ONE)
    client.post(f"{address}/fix", data={"text": "it"})
    paste(client, TWO)
    shown = client.get("/metrics")
    assert shown.mimetype == "text/plain"
    assert 'diagnose_failures{status="known"} 1' in shown.text
    assert 'diagnose_outcomes{outcome="worked"} 1' in shown.text
    assert len(re.findall(r"^diagnose_reports.* 1$", shown.text, re.MULTILINE)) == 2


def test_ready_means_that_the_store_is(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.get("/readyz").get_json()["status"] == "ok"

    def gone(_: object) -> None:
        raise StoreError("the server has gone")

    monkeypatch.setattr(Store, "ready", gone)
    assert client.get("/readyz").status_code == 503
    assert client.get("/healthz").status_code == 200


def test_lists_go_on_where_they_ended(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diagnose.web.remembering._PAGE", 1)
    for text in (ONE, TWO, TWO):
        assert client.post("/api/v1/reports", json={"text": text}).status_code == 201
    found: list[str] = []
    before: str | None = ""
    while before is not None:
        said = client.get("/api/v1/failures", query_string={"before": before}).get_json()
        found += [one["id"] for one in said["failures"]]
        before = said["next"]
    assert len(found) == len(set(found)) == 2
    page = client.get("/failures").text
    (link,) = re.findall(r'href="(/failures\?[^"]+)" rel="next"', page)
    assert f"/failures/{found[0]}" in page
    assert f"/failures/{found[1]}" in client.get(link.replace("&amp;", "&")).text
    often = next(one for one in found if store_of(client).group(one).count == 2)  # type: ignore[union-attr]
    first = client.get(f"/api/v1/failures/{often}").get_json()
    second = client.get(f"/api/v1/failures/{often}?before={first['next']}").get_json()
    assert first["reports"] != second["reports"]
    for nonsense in ("x", "-1", "99999999999999999999-x", "1"):
        assert client.get("/failures", query_string={"before": nonsense}).status_code == 200


# --- access -----------------------------------------------------------------------------------------


def closed(casebase_path: Path, tmp_path: Path, access: Any) -> FlaskClient:
    where = str(tmp_path / "memory.sqlite")
    return create_app(casebase_path, store=where, access=access).test_client()


#: What reads nothing of the store, or only what everybody may: no token opens it to one and not to another.
UNSCOPED = {
    *("api.causes", "api.cause", "api.incidents", "api.incident", "api.openapi", "static"),
    *(
        "api.diagnoses",
        "pages.paste",
        "pages.example",
        "pages.answer",
        "pages.verification",
        "pages.causes",
    ),
    *("pages.cause", "pages.incidents", "pages.incident", "pages.reproduce", "pages.api"),
    *("pages.healthz", "memory.readyz", "memory.metrics", "memory.report", "memory.failures"),
    *("memory.failure", "memory.stored_report", "memory.list_failures", "memory.one_failure"),
}


@pytest.mark.parametrize("access", ["read", "closed"])
def test_a_token_of_one_scope_opens_no_route_of_another(
    casebase_path: Path, tmp_path: Path, access: str
) -> None:
    client = closed(casebase_path, tmp_path, access)
    assert set(SCOPES.values()) == set(get_args(Scope))
    rules = list(client.application.url_map.iter_rules())
    assert {rule.endpoint for rule in rules} == UNSCOPED | SCOPES.keys()
    secrets = {scope: store_of(client).issue("ana", [scope], "root") for scope in get_args(Scope)}
    for rule in rules:
        path = re.sub("<[^>]+>", "nothing", rule.rule)
        wanted, public = SCOPES.get(rule.endpoint), rule.endpoint in PUBLIC
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
            status = client.open(path, method=method).status_code
            assert (status == 401) is (not public and (access == "closed" or wanted is not None))
            for scope, secret in secrets.items():
                for credentials in (
                    {"headers": {"Authorization": f"Bearer {secret}"}},
                    {"auth": ("anybody", secret)},
                ):
                    status = client.open(path, method=method, **credentials).status_code  # type: ignore[arg-type]
                    assert (status == 403) is (wanted not in (None, scope)), (scope, rule)
                    assert status != 401


def test_admins_see_who_changed_what(casebase_path: Path, tmp_path: Path) -> None:
    client = closed(casebase_path, tmp_path, "read")
    token = ("x", store_of(client).issue("<b>ana</b>", [*get_args(Scope)], "root"))
    client.post("/api/v1/reports", json={"text": ONE}, auth=token)
    ((group, address),) = [
        (f"/failures/{group.id}", f"/r/{store_of(client).page(group.id).reports[0][0]}")
        for group in store_of(client).groups()
    ]
    client.post(f"{group}/status", data={"status": "fixed", "fixed_in": "ours 2"}, auth=token)
    client.post(f"{address}/delete", auth=token)
    for lang, words in (
        ("en", ["deleted a report:", "set the status:", "in ours 2", "issued a token:"]),
        ("zh", ["删除了报告：", "设置了状态：", "ours 2", "签发了令牌："]),
    ):
        page = client.get(f"/changes?lang={lang}", auth=token).text
        places = [page.find(word) for word in words]
        assert -1 not in places
        assert places == sorted(places)  # the latest first
        assert "&lt;b&gt;ana&lt;/b&gt;" in page
        assert "Expected all tensors" not in page


def test_what_is_written_bears_the_name_of_its_token(casebase_path: Path, tmp_path: Path) -> None:
    client = closed(casebase_path, tmp_path, "read")
    token = ("x", store_of(client).issue("ana", ["remember", "report"], "root"))
    address = paste(client, ONE)  # reading is open
    assert (
        client.post(f"{address}/fix", data={"text": "it", "by": "bo"}, auth=token).status_code
        == 303
    )
    assert "fixed by ana" in client.get(address).text


def test_a_closed_service_shows_nothing_without_a_token(
    casebase_path: Path, tmp_path: Path
) -> None:
    client = closed(casebase_path, tmp_path, "closed")
    store = store_of(client)
    for path in ("/", "/failures", "/api/v1/failures", "/causes", "/api/v1/causes", "/r/x"):
        answer = client.get(path)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Basic ")
    assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200
    secret = store.issue("ana", ["report"], "root", days=1)
    assert client.get("/failures", auth=("x", secret)).status_code == 200
    assert secret not in str(store.tokens())
    (token,) = store.tokens()
    store._now = lambda: token.created + 86401
    assert client.get("/failures", auth=("x", secret)).status_code == 401
    store._now = lambda: token.created
    assert store.revoke(token.id, "root")
    assert client.get("/failures", auth=("x", secret)).status_code == 401


# --- hostile texts ----------------------------------------------------------------------------------


class Page(HTMLParser):
    """What of a page could run: scripts, handlers, addresses."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("iframe", "object", "embed", "base", "style", "math"):
            self.found.append(tag)
        if tag == "script" and not (given.get("src") or "").startswith("/static/page.js"):
            self.found.append("script")
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "srcdoc"):
                self.found.append(f"{tag} {name}")
            if name in ("href", "src", "action", "formaction") and not re.match(
                r"/(?!/)|#|https://", value or ""
            ):
                self.found.append(f"{tag} {name}={value}")


def test_hostile_reports_are_stored_and_shown(client: FlaskClient) -> None:
    chance = random.Random(5)

    def some() -> str:
        return " ".join(chance.sample(PAYLOADS, 2))

    for number in range(40):  # each payload is met in each place, more than once
        text = (
            "Traceback (most recent call last):\n"
            f'  File "/srv/{some()}/train.py", line {number}, in {some()}\n    x + {some()}\n'
            f"RuntimeError: Expected all tensors to be on the same device, but found cuda:0 and cpu! {some()}\n"
        )
        sent = client.post(
            "/api/v1/reports",
            json={"text": text, "source": some(), "host": some(), "job": f"{number}{some()}"},
        )
        assert sent.status_code in (200, 201)
        address = sent.get_json()["url"]
        client.post(
            f"{address}/fix",
            data={
                "text": some(),
                "by": some(),
                "commit": some(),
                "link": f"https://x.example/{some()}",
            },
        )
        failure = f"/failures/{sent.get_json()['failure']}"
        client.post(f"{failure}/status", data={"status": "fixed", "fixed_in": some()})
        for path in (address, failure, "/failures")[: 3 if number % 8 == 0 else 1]:
            page = client.get(path)
            assert page.status_code == 200
            assert Page(page.text).found == []


# --- in a browser -----------------------------------------------------------------------------------


@pytest.fixture
def visit(chromium: Any, remembering_server: str) -> Iterator[Callable[..., Visitor]]:
    visitors = []

    def make(**options: Any) -> Visitor:
        context = chromium.new_context(**{"locale": "en-US", **options})
        context.set_default_timeout(15_000)
        visitors.append(Visitor(context.new_page(), remembering_server))
        return visitors[-1]

    yield make
    for visitor in visitors:
        visitor.page.context.close()
        assert visitor.trouble == []


Visit = Callable[..., Visitor]


def unlike(text: str, name: str) -> str:
    """The same failure in a function of another name, which no other test has met."""
    changed = re.sub(r", in (main|<module>)\n", f", in {name}\n", text)
    changed = re.sub(r"reproduce\.py", f"{name}.py", changed)
    assert changed != text
    return changed


@pytest.mark.browser
@pytest.mark.parametrize("javascript", [True, False], ids=["js", "no-js"])
def test_paste_this_fixed_it_paste_again(visit: Visit, javascript: bool) -> None:
    text = unlike(ONE, f"fixed_{'with' if javascript else 'without'}")
    visitor = visit(java_script_enabled=javascript)
    visitor.ask(text)
    page = visitor.page
    address = page.url
    assert "/r/" in address
    page.locator(".remember input[name=by]").first.fill("ana")
    page.get_by_role("button", name="This fixed it").click()
    page.locator("#seen").wait_for()
    assert "fixed by ana (worked as written 1)" in page.locator("#seen").inner_text()
    page.go_back()
    page.go_back()
    page.locator("textarea").first.wait_for()
    visitor.ask(text)
    assert "fixed by ana" in page.locator("#seen").inner_text()
    other = visit(java_script_enabled=javascript)
    other.page.goto(address)  # the link in another session
    assert "fixed by ana" in other.page.locator("#seen").inner_text()


@pytest.mark.browser
def test_it_was_something_else(visit: Visit) -> None:
    visitor = visit(java_script_enabled=False)
    visitor.ask(unlike(ONE, "something_else"))
    page = visitor.page
    page.locator(".remember summary").click()
    page.get_by_label("Cause").select_option("unregistered-tensor")
    page.get_by_label("What fixed it", exact=True).fill("a buffer instead")
    page.get_by_label("Your name").last.fill("bo")
    page.get_by_label("Link (optional)").fill("https://wiki.corp.example/42")
    page.get_by_role("button", name="Remember it").click()
    page.locator("#seen").wait_for()
    page.locator("#seen a").click()
    assert "a buffer instead" in page.locator("main").inner_text()
    assert "unregistered-tensor" in page.locator("main").inner_text()


@pytest.mark.browser
def test_search_merge_and_split(visit: Visit) -> None:
    visitor = visit(java_script_enabled=False)
    page = visitor.page
    names = ("left_hand", "right_hand")
    for name in names:
        visitor.ask(unlike(TWO, name))
        page.get_by_role("button", name="Save this report").click()
        page.get_by_text("This report is saved.").wait_for()
    visitor.go("/failures")
    page.get_by_role("searchbox").fill("right_hand")
    page.get_by_role("button", name="Search").click()
    has(page.locator(".index li"), 1)
    page.locator(".index a").first.click()
    has(page.locator("svg.chart rect"), 1)
    page.locator("#merge summary").click()
    page.locator("#merge label", has_text="left_hand").locator("input").check()
    page.locator("#merge-by").fill("cy")
    page.get_by_role("button", name="Merge", exact=True).click()
    page.get_by_text("merged another failure into this one:").wait_for()
    history = page.locator("main li", has_text="merged another").inner_text()
    assert "cy" in history
    assert "Both have the same exception" in history
    visitor.ask(unlike(TWO, "left_hand"))  # sticks
    assert "Seen 2 times" in page.locator("#seen").inner_text()
    page.locator("#seen a").click()
    page.locator("#split summary").click()
    page.get_by_role("button", name="Split off").click()
    page.get_by_text("split reports off:").wait_for()
    visitor.ask(unlike(TWO, "left_hand"))
    assert "Seen once" in page.locator("#seen").inner_text()


@pytest.mark.browser
def test_status_and_delete(visit: Visit) -> None:
    visitor = visit(java_script_enabled=False)
    page = visitor.page
    visitor.ask(unlike(TWO, "status_of"))
    page.get_by_role("button", name="Save this report").click()
    page.get_by_text("This report is saved.").wait_for()
    address = page.url
    page.locator(".remember a").click()
    page.get_by_label("Status").select_option("fixed")
    page.get_by_label("Fixed in version (optional)").fill("ours 2.0")
    page.get_by_role("button", name="Set status").click()
    page.locator(".status.fixed").first.wait_for()
    assert "in ours 2.0" in page.locator("main").inner_text()
    page.goto(address)
    page.get_by_role("button", name="Delete it").click()
    page.locator("textarea").wait_for()
    answer = page.goto(address)
    assert answer is not None
    assert answer.status == 404
    visitor.trouble.clear()  # the console notes the 404


@pytest.mark.browser
def test_keyboard_only(visit: Visit) -> None:
    visitor = visit()
    visitor.ask(unlike(ONE, "keys_only"))
    page = visitor.page
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == "by":
            break
    page.keyboard.type("dee")
    page.keyboard.press("Enter")
    page.locator("#seen").wait_for()
    assert "fixed by dee" in page.locator("#seen").inner_text()


@pytest.mark.browser
def test_hostile_words_are_shown_and_run_nothing(visit: Visit) -> None:
    visitor = visit()
    visitor.ask(HOSTILE_TRACEBACK)
    page = visitor.page
    page.locator(".remember summary").click()
    page.get_by_label("What fixed it", exact=True).fill(" ".join(PAYLOADS)[:3000])
    page.get_by_label("Your name").last.fill(PAYLOADS[0][:80])
    page.get_by_role("button", name="Remember it").click()
    page.locator("#seen a").click()
    page.locator("h1").wait_for()
    has(page.locator("script"), 1)
    has(page.locator("main img, main iframe, [onerror], [onload]"), 0)
    for link in page.locator("a").all():
        assert (link.get_attribute("href") or "").startswith(("/", "#", "https://"))


@pytest.mark.browser
@pytest.mark.parametrize(
    ("scheme", "width", "lang"),
    [("light", 1280, "en-US"), ("dark", 390, "zh-CN"), ("light", 320, "en-US")],
)
def test_pages_are_accessible_and_fit(visit: Visit, scheme: str, width: int, lang: str) -> None:
    visitor = visit(viewport={"width": width, "height": 900}, color_scheme=scheme, locale=lang)
    page = visitor.page
    for name in ("fits_one", "fits_two"):
        visitor.ask(unlike(ONE, f"{name}_{width}"))
        page.locator("form[action$=keep] button").click()
        page.locator(".remember a").wait_for()
    page.locator(".remember summary").click()
    failure = page.locator(".remember a").get_attribute("href")
    addresses = [page.url, "/failures", failure, "/changes"]
    found = {}
    for address in addresses:
        visitor.go(address) if address.startswith("/") else page.goto(address)
        for details in page.locator("main details:not([open]) > summary").all():
            if details.is_visible():
                details.click()
        found[address] = _violations(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        if lang == "zh-CN":
            assert page.locator("html").get_attribute("lang") == "zh-Hans"
    assert not any(found.values()), found
