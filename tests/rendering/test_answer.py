"""All skins say the same: what `rendering.answer` chooses stands in the text, in Markdown and on the page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from diagnose.casebase.store import load
from diagnose.model import Diagnosis, Fix
from diagnose.pipeline import diagnose
from diagnose.rendering import full, markdown
from diagnose.rendering.answer import Answer, answer
from diagnose.web import create_app

TESTS = Path(__file__).parents[1]
INPUTS = sorted((TESTS / "traces" / "causes").glob("*.txt"))[::5]
LAST = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    main()\n'
UNKNOWN = LAST + (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
    "cuda:0 and cpu!\n"
)
MEMORY = LAST + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"


def said(shown: Answer) -> Iterator[str]:
    """Every sentence, name and edit that an answer shows."""
    yield from (
        *shown.devices.split()[::2],
        shown.ranks,
        shown.fallout,
        shown.ending,
        shown.unknown,
    )
    yield from shown.advice
    for cause in shown.causes:
        yield from (cause.cause.title, cause.cause.why, cause.sure, cause.cause.id)
        yield from (*cause.evidence, cause.rather or "", cause.verify or "")
        yield from (match.title for match in cause.incidents)
        for fix in cause.fixes:
            yield from of_fix(fix)
    for question in shown.questions:
        yield from (question.text, *(reply.text for reply in question.replies))
    yield from (match.title for match in shown.nearest)


def of_fix(fix: Fix) -> Iterator[str]:
    yield fix.title
    if fix.edit is not None:
        yield from (fix.edit.before, fix.edit.after)
    else:
        yield from (fix.command or fix.code or "").split("\n")


def flat(page: str) -> str:
    """A page's words without what lays them out: wrapping, escapes, marks."""
    return re.sub(r"[\s\\`*]+|<[^>]*>", "", html.unescape(page))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "source", [*INPUTS, UNKNOWN, MEMORY], ids=lambda s: getattr(s, "stem", "text")
)
def test_every_skin_says_it_all(source: Path | str, lang: str, casebase_path: Path) -> None:
    casebase = load(casebase_path, lang)  # type: ignore[arg-type]
    data = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
    diagnosis: Diagnosis = diagnose(data, casebase=casebase)
    shown = answer(diagnosis, "-")
    pages = {"full": full.render(diagnosis), "Markdown": markdown.render(diagnosis)}
    for skin, page in pages.items():
        told = flat(page)
        for part in filter(None, said(shown)):
            assert flat(part) in told, f"{skin} does not say {part!r}"
    client = create_app(casebase_path).test_client()
    page = flat(client.post(f"/?lang={lang}", data={"text": data}).text)
    for cause in shown.causes:
        for part in (cause.cause.title, cause.cause.why, *(fix.title for fix in cause.fixes)):
            assert flat(part) in page
    for match in shown.nearest:
        assert flat(match.title) in page
