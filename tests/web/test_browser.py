"""The pages in a real browser against a real server; none may log an error or break its policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from web.conftest import LIMIT, Visitor, has
from web.samples import AMBIGUOUS, HOSTILE_TRACEBACK, PAYLOADS, TRACES, TWO_GPUS
from web.test_uploads import NET, TEXT

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]
EASYEDIT = next(path for path in TRACES if path.stem == "easyedit-memit-delta")


@pytest.mark.parametrize(
    ("trace", "javascript"), [(EASYEDIT, False), *((trace, True) for trace in TRACES)]
)
def test_paste_submit_read(visit: Visit, trace: Path, javascript: bool) -> None:
    visitor = visit(java_script_enabled=javascript)
    visitor.ask(trace.read_text(encoding="utf-8"))
    page = visitor.page
    assert page.locator(".culprit pre").first.is_visible()
    first = page.locator("#cause-1")
    assert first.locator(".body").is_visible()
    assert page.locator("h1").inner_text() == first.locator(".name strong").inner_text()
    assert page.locator(".first .code pre").first.is_visible()
    assert first.locator(".verify button.copy").is_visible() is javascript


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)], ids=["desktop", "phone"])
@pytest.mark.parametrize("lang", ["en-US", "zh-CN"])
def test_what_to_do_why_and_its_proof_need_no_scrolling(
    visit: Visit, width: int, height: int, lang: str
) -> None:
    visitor = visit(viewport={"width": width, "height": height}, locale=lang)
    visitor.ask(EASYEDIT.read_text(encoding="utf-8"))
    page = visitor.page
    assert page.evaluate("scrollY") == 0
    for part in ("h1", ".error", "#fix-1-patch", ".because", "#check-it"):
        box = page.locator(part).bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= height, part


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.stem)
def test_the_edit_of_every_trace_is_above_the_fold(visit: Visit, trace: Path) -> None:
    visitor = visit(viewport={"width": 1280, "height": 900})
    visitor.ask(trace.read_text(encoding="utf-8"))
    box = visitor.page.locator(".first .code pre").first.bounding_box()
    assert box["y"] + box["height"] <= 900


def test_the_answer_is_copied_as_markdown(visit: Visit) -> None:
    visitor = visit(permissions=["clipboard-read", "clipboard-write"])
    visitor.ask(EASYEDIT.read_text(encoding="utf-8"))
    page = visitor.page
    page.locator("button[data-copy='markdown']").first.click()
    page.get_by_text("Copied").first.wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("### RuntimeError in `/home/user/project/reproduce.py:54`")
    assert "```diff" in copied and "</details>" in copied


@pytest.mark.parametrize("javascript", [True, False], ids=["js", "no-js"])
def test_replies_are_buttons_that_rank_anew(visit: Visit, javascript: bool) -> None:
    visitor = visit(java_script_enabled=javascript)
    visitor.ask(AMBIGUOUS)
    page = visitor.page
    first = page.locator("#cause-1 .name code").inner_text()
    replies = page.locator(".replies li").all()
    reply = next(one for one in replies if first not in one.inner_text())
    pointed = reply.locator("code").first.inner_text()
    question = page.locator(".questions h3").first.inner_text()
    reply.locator("button").click()
    page.get_by_text("Your answers are included").wait_for()
    assert page.locator("#cause-1 .name code").inner_text() == pointed
    has(page.locator(".questions h3", has_text=question), 0)
    assert any(question in text for text in page.locator(".because").all_inner_texts())
    page.get_by_role("button", name="Take them back").click()
    page.locator(".questions h3").first.wait_for()
    assert page.locator(".questions h3").first.inner_text() == question
    assert page.locator("#cause-1 .name code").inner_text() == first != pointed


@pytest.mark.parametrize("javascript", [True, False], ids=["js", "no-js"])
def test_incidents_are_searched_by_what_people_see(visit: Visit, javascript: bool) -> None:
    visitor = visit(java_script_enabled=javascript)
    visitor.go("/incidents")
    page = visitor.page
    everything = page.locator("main .index li").count()
    page.locator("input[type=search]").fill("MEMIT on several GPUs")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**q=*")
    assert "EasyEdit" in page.locator(".index li").first.inner_text()
    assert 0 < page.locator(".index li").count() < everything
    page.locator(".index a").first.click()
    assert page.locator("h1").inner_text().startswith("EasyEdit")


@pytest.mark.parametrize("javascript", [True, False], ids=["js", "no-js"])
def test_further_causes_are_folded_and_open(visit: Visit, javascript: bool) -> None:
    visitor = visit(java_script_enabled=javascript)
    visitor.ask(AMBIGUOUS)
    second = visitor.page.locator("#cause-2")
    assert not second.locator(".body").is_visible()
    second.locator("summary").first.click()
    assert second.locator(".body").is_visible()


@pytest.mark.parametrize("javascript", [True, False], ids=["js", "no-js"])
def test_hostile_paste_is_shown_and_runs_nothing(visit: Visit, javascript: bool) -> None:
    visitor = visit(java_script_enabled=javascript)
    visitor.ask(HOSTILE_TRACEBACK)
    page = visitor.page
    page.locator("details.again > summary").click()
    assert page.locator("#again textarea").input_value() == HOSTILE_TRACEBACK
    shown = page.locator("body").text_content()
    assert all(payload in shown for payload in PAYLOADS)
    has(page.locator("script"), 1)
    has(page.locator("main img, main svg, main iframe, [onerror], [onload]"), 0)
    for link in page.locator("a").all():
        assert link.get_attribute("href").startswith(("/", "#", "https://"))
    page.locator(
        ".languages button"
    ).click()  # the same text once more, through the page's own form
    page.locator("html[lang=zh-Hans]").wait_for()
    assert all(payload in page.locator("body").text_content() for payload in PAYLOADS)


def test_policy_stops_a_script_that_got_into_a_page(visit: Visit) -> None:
    visitor = visit()
    visitor.go("/causes")
    visitor.page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=alert(1)>')"
    )
    visitor.page.wait_for_timeout(300)
    assert any("Content Security Policy" in text for text in visitor.trouble)
    assert not [text for text in visitor.trouble if text == "1"]  # no dialog opened
    visitor.trouble.clear()


def test_file_is_chosen_and_taken_back(visit: Visit, tmp_path: Path) -> None:
    log = tmp_path / "rank0's <log>.txt"
    log.write_bytes(EASYEDIT.read_text(encoding="utf-8").encode("utf-16"))
    visitor = visit()
    visitor.go()
    page = visitor.page
    page.locator("input[name=file]").set_input_files(log)
    page.locator("button.remove").click()
    assert page.locator("input[name=file]").evaluate("field => field.files.length") == 0
    page.locator("input[name=file]").set_input_files(log)
    page.locator("button.primary").click()
    page.locator("#cause-1").wait_for()
    assert log.name in page.locator(".input h2").inner_text()


def test_file_is_chosen_without_javascript(visit: Visit) -> None:
    visitor = visit(java_script_enabled=False)
    visitor.go()
    visitor.page.locator("input[name=file]").set_input_files(EASYEDIT)
    visitor.page.locator("button.primary").click()
    visitor.page.locator("#cause-1").wait_for()
    assert EASYEDIT.name in visitor.page.locator(".input h2").inner_text()


@pytest.mark.parametrize("javascript", [True, False], ids=["js", "no-js"])
def test_python_files_are_chosen_and_sent_along_again(
    visit: Visit, tmp_path: Path, javascript: bool
) -> None:
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    visitor = visit(java_script_enabled=javascript)
    visitor.go()
    page = visitor.page
    page.locator("textarea").fill(TEXT)
    page.locator("input[name=files]").set_input_files(tmp_path / "net.py")
    page.locator("button.primary").click()
    page.locator(".culprit details.way > summary").click()
    page.locator(".culprit .listing mark").wait_for()
    page.locator("details.again > summary").click()
    page.locator("#again button.primary").click()
    page.locator(".culprit details.way > summary").click()
    page.locator(".culprit .listing mark").wait_for()
    assert "net.py" in page.locator(".summary").inner_text()


def drop(page: Any, name: str, text: str) -> None:
    page.locator("textarea").evaluate(
        """(area, [name, text]) => {
          const data = new DataTransfer();
          data.items.add(new File([text], name, {type: "text/plain"}));
          for (const kind of ["dragenter", "dragover", "drop"])
            area.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
        }""",
        [name, text],
    )


def test_file_is_dropped_on_the_text_area(visit: Visit) -> None:
    visitor = visit()
    visitor.go()
    page = visitor.page
    drop(page, "train.log", EASYEDIT.read_text(encoding="utf-8"))
    has(page.locator("textarea.unused"), 1)
    page.keyboard.press("Enter")  # the focus is on the button now
    page.locator("#cause-1").wait_for()
    assert "train.log" in page.locator(".input h2").inner_text()


def test_too_large_a_file_is_refused_before_it_is_sent(visit: Visit) -> None:
    visitor = visit()
    visitor.go()
    page = visitor.page
    drop(page, "train.log", "x" * (LIMIT + 1))
    assert "larger than" in page.locator("[role=alert]").inner_text()
    page.locator("button.primary").click()
    page.wait_for_timeout(200)
    has(page.locator(".summary"), 0)
    drop(page, "train.log", "x")
    assert not page.locator("[role=alert]").is_visible()


def test_keyboard_only(visit: Visit) -> None:
    visitor = visit()
    visitor.go()
    page = visitor.page
    page.locator("textarea:focus").wait_for()  # without a click
    page.keyboard.insert_text(TWO_GPUS)
    page.wait_for_function("document.activeElement.value.includes('RuntimeError')")
    page.keyboard.press("Control+Enter")
    page.locator("#cause-1").wait_for()

    page.keyboard.press("Tab")
    assert page.locator(".skip").evaluate("link => link === document.activeElement")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    visited: list[str] = []
    for _ in range(60):
        page.keyboard.press("Tab")
        visited.append(
            page.evaluate("document.activeElement.className || document.activeElement.tagName")
        )
        if page.evaluate("document.activeElement.parentElement.id") == "cause-2":
            break
    assert "at" in visited  # the evidence
    page.keyboard.press("Enter")
    assert page.locator("#cause-2 .body").is_visible()


def test_focus_is_visible(visit: Visit) -> None:
    visitor = visit()
    visitor.go("/causes")
    for _ in range(4):
        visitor.page.keyboard.press("Tab")
        style = visitor.page.evaluate(
            "(({outlineStyle, outlineWidth}) => [outlineStyle, outlineWidth])"
            "(getComputedStyle(document.activeElement))"
        )
        assert style == ["solid", "3px"]


def test_evidence_leads_to_the_line(visit: Visit) -> None:
    visitor = visit()
    visitor.ask("INFO step\n" * 300 + EASYEDIT.read_text(encoding="utf-8"))
    page = visitor.page
    link = page.locator(".evidence .at").first
    target = link.get_attribute("href")
    link.click()
    row = page.locator(target)
    assert row.evaluate("row => row.matches(':target')")
    has(row.locator("mark"), 1)
    assert row.evaluate(
        """row => { const box = row.closest(".lines").getBoundingClientRect();
                    const own = row.getBoundingClientRect();
                    return own.top >= box.top - 1 && own.bottom <= box.bottom + 1 }"""
    )
    assert page.locator(".lines tr").count() < 120


def test_line_leads_to_the_cause_even_when_it_is_closed(visit: Visit) -> None:
    visitor = visit()
    visitor.ask(TWO_GPUS)
    page = visitor.page
    page.locator(".tags a[href='#cause-2']").first.click()
    assert page.locator("#cause-2 .body").is_visible()


@pytest.mark.parametrize("javascript", [True, False], ids=["js", "no-js"])
def test_verification_program_is_downloaded(visit: Visit, javascript: bool) -> None:
    visitor = visit(java_script_enabled=javascript)
    visitor.ask(EASYEDIT.read_text(encoding="utf-8"))
    page = visitor.page
    with page.expect_download() as waiting:
        page.locator("#cause-1 .verify button").first.click()
    assert waiting.value.suggested_filename == "verify.py"
    source = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert source == page.locator("#verify-1").text_content()


def test_patch_and_program_are_copied(visit: Visit) -> None:
    visitor = visit(permissions=["clipboard-read", "clipboard-write"])
    visitor.ask(EASYEDIT.read_text(encoding="utf-8"))
    page = visitor.page
    for id in ("fix-1-patch", "verify-1"):
        button = page.locator(f"button[data-copy='{id}']")
        button.click()
        page.get_by_text("Copied").first.wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == page.locator(f"#{id}").text_content()
        assert copied.strip()


@pytest.mark.parametrize("width", [320, 390])
def test_narrow_screen_never_scrolls_sideways(visit: Visit, width: int) -> None:
    visitor = visit(viewport={"width": width, "height": 800}, has_touch=True)
    page = visitor.page
    for path in (
        "/",
        "/example",
        "/causes",
        "/incidents",
        "/incidents?q=MEMIT+on+several+GPUs",
        "/causes/cross-shard-op",
        f"/incidents/{EASYEDIT.stem}",
    ):
        visitor.go(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    for trace in (*(path.read_text(encoding="utf-8") for path in TRACES), HOSTILE_TRACEBACK):
        visitor.ask(trace)
        for details in page.locator("main details:not([open]) > summary").all():
            if details.is_visible():
                details.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("javascript", [True, False], ids=["js", "no-js"])
def test_chinese_browser_gets_chinese_and_can_switch(visit: Visit, javascript: bool) -> None:
    visitor = visit(locale="zh-CN", java_script_enabled=javascript)
    visitor.ask(EASYEDIT.read_text(encoding="utf-8"))
    page = visitor.page
    assert page.locator("html").get_attribute("lang") == "zh-Hans"
    chinese = page.locator("h1").inner_text()
    assert any("\u4e00" <= char <= "\u9fff" for char in chinese)
    page.locator(".languages button").click()
    page.locator("html[lang=en]").wait_for()
    assert page.locator("h1").inner_text().isascii()
    page.locator("a", has_text="About this cause").first.click()  # links keep the choice
    assert page.locator("html").get_attribute("lang") == "en"


def test_example_leads_to_an_answer(visit: Visit) -> None:
    visitor = visit()
    visitor.go()
    visitor.page.locator("a", has_text="Try an example").click()
    visitor.page.locator("button.primary").click()
    assert visitor.page.locator("h1").inner_text() == "Tensors from two model shards are combined"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_scheme_follows_the_reader(visit: Visit, scheme: str) -> None:
    visitor = visit(color_scheme=scheme)
    visitor.go()
    ground = visitor.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) > 384) is (scheme == "light")


def test_every_field_and_button_has_a_name(visit: Visit) -> None:
    visitor = visit()
    visitor.ask(EASYEDIT.read_text(encoding="utf-8"))
    page = visitor.page
    for details in page.locator("details.again > summary, details.program > summary").all():
        if details.is_visible():
            details.click()
    assert page.get_by_label("Traceback or log").is_visible()
    assert page.get_by_label("Or a file").is_visible()
    assert page.get_by_role("button", name="Diagnose").is_visible()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, a, [role=region]")]
             .filter(e => !(e.textContent.trim() || e.ariaLabel) || (e.role === "region" && !e.ariaLabel))
             .map(e => e.outerHTML)"""
    )
    assert nameless == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 390)], ids=["light-desktop", "dark-phone"]
)
def test_axe_finds_no_violation(visit: Visit, scheme: str, width: int) -> None:
    visitor = visit(viewport={"width": width, "height": 900}, color_scheme=scheme)
    found = {}
    for path in ("/", "/causes", "/causes/cross-shard-op", "/incidents", "/api"):
        visitor.go(path)
        found[path] = _violations(visitor.page)
    for text in (EASYEDIT.read_text(encoding="utf-8"), AMBIGUOUS, "no error here"):
        visitor.ask(text)
        found[text[:20]] = _violations(visitor.page)
    assert not any(found.values()), found


def _violations(page: Any) -> list[str]:
    """What axe-core has against a page, by its rules for everybody: where, and which rule."""
    # As the browser, it is not there with the lowest versions.
    from axe_playwright_python.sync_playwright import Axe

    response = Axe().run(page).response
    assert response["passes"], "axe has looked at nothing"
    return [
        f"{one['id']}: {node['html'][:80]}"
        for one in response["violations"]
        for node in one["nodes"]
    ]
