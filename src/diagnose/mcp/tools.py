"""The tools, as functions of what an agent gives them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import anyio
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, ContentBlock, ResourceLink, TextContent
from pydantic import Field

from diagnose.casebase.store import load
from diagnose.checking.answering import Wanted, rules
from diagnose.checking.checking import check as checked
from diagnose.checking.files import python_files
from diagnose.checking.formats import json as findings_json
from diagnose.checking.formats import text as findings_text
from diagnose.checking.model import Options
from diagnose.commands.remember import LARGEST, Tried, remembered
from diagnose.errors import DiagnoseError
from diagnose.inputs import opened
from diagnose.memory import lookup
from diagnose.memory.redaction import redactor
from diagnose.memory.store import Store
from diagnose.model import Diagnosis, Lang, Outcome
from diagnose.parsing.bytestream import read_fully
from diagnose.pipeline import diagnose
from diagnose.rendering import full as full_text
from diagnose.rendering import text as brief_text
from diagnose.rendering.answer import seen_line
from diagnose.rendering.json import as_dict, brief, seen_as_dict
from diagnose.rendering.words import clean
from diagnose.sources import per_report
from diagnose.verification.invocation import check, repair

#: The media type of what answers link to.
PLAIN = "text/plain"
_COLUMNS = 100
_MOST_FINDINGS = 50
_MOST_LINKS = 3
#: Seconds that a run of `prove` may take, and all of them together.
_RUN, _PROOF = 120, 600
#: What of findings, of a proof and of what is remembered holds text of files and people.
_OF_FINDINGS, _OF_PROOF, _OF_STORE = (
    ["$.findings", "$.problems"],
    ["$.script", "$.diff", "$.failure", "$.left"],
    ["$.seen"],
)
_SHOWN_OF_PROOF = ("script", "gpus", "outcome", "level", "diff", "failure", "left")


class Settings(NamedTuple):
    """How the server was started: the folders that it reads in, the language of its answers, whether it may
    run code, and where failures are remembered (None: nowhere)."""

    roots: tuple[Path, ...]
    lang: Lang = "en"
    prove: bool = False
    store: str | None = None


class Tools:
    """The tools of one server. What its user can mend is a `ToolError` with a sentence."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def diagnose(
        self, text: str = "", file: str = "", sources: Sequence[str] = (), full: bool = False
    ) -> CallToolResult:
        """The answer to a text, or to a file's, with what to do next and links to what it names."""
        diagnosis = self._diagnosed(text, file, sources)
        causes = [("cause", cause.id, cause.title) for cause in diagnosis.causes[:1]]
        near = diagnosis.causes[0].incidents if diagnosis.causes else diagnosis.nearest
        incidents = [("incident", one.id, one.title) for one in near]
        return _result(
            _page(diagnosis, full=full),
            {**(as_dict if full else brief)(diagnosis), "next": _next(diagnosis)},
            [*causes, *incidents][:_MOST_LINKS],
        )

    def check(self, paths: Sequence[str], preview: bool = False) -> CallToolResult:
        """The findings of files and folders."""
        lang = self._settings.lang
        inside = [str(self._inside(path)) for path in paths]
        try:
            options = Options(rules(Wanted(preview=preview, lang=lang)), preview, lang)
            report = checked(list(python_files(inside, ())), options)
        except DiagnoseError as error:
            raise ToolError(str(error)) from error
        more = max(len(report.findings) - _MOST_FINDINGS, 0)
        report = report._replace(findings=report.findings[:_MOST_FINDINGS], unused=())
        document = json.loads(findings_json.render(report, lang))
        return _result(
            findings_text.render(report, lang),
            {**document, "left_off": more, "quoted": _OF_FINDINGS},
        )

    async def prove(
        self,
        script: str,
        arguments: Sequence[str] = (),
        gpus: Annotated[int, Field(ge=1, le=64)] = 2,
    ) -> CallToolResult:
        """What ``diagnose fix`` finds for a script of this machine, and how far it is proven."""
        command = [sys.executable, "-m", "diagnose", "fix", "--format", "json"]
        command += [
            "--gpus",
            str(gpus),
            "--timeout",
            str(_RUN),
            str(self._inside(script)),
            *arguments,
        ]
        try:
            with anyio.fail_after(_PROOF):
                ran = await anyio.run_process(command, check=False, cwd=self._settings.roots[0])
        except TimeoutError as error:
            raise ToolError(f"stopped after {_PROOF} s") from error
        try:
            found = json.loads(ran.stdout)
        except ValueError as error:
            told = ran.stderr.decode("utf-8", "replace").strip().splitlines()
            raise ToolError(clean(told[-1] if told else "no answer")) from error
        shown = {key: found[key] for key in _SHOWN_OF_PROOF}
        said = f"{shown['outcome']}, {shown['level']}\n{shown['diff'] or ''}"
        return _result(said, {**shown, "quoted": _OF_PROOF})

    def remember(self, text: str, fixed_by: str, outcome: Outcome = "worked") -> CallToolResult:
        """Writes down what fixed a failure, and tells all that is remembered of it."""
        diagnosis = self._diagnosed(text, "", ())
        assert self._settings.store is not None
        if diagnosis.report.error is None:
            raise ToolError("there is no error in the text")
        rules = load().redaction().rules
        try:
            store = Store(self._settings.store, redactor(rules))
            return _seen(remembered(store, text, diagnosis, Tried(fixed_by, "agent", outcome)))
        except DiagnoseError as error:
            raise ToolError(str(error)) from error

    def recall(self, text: str) -> CallToolResult:
        """What is remembered of a failure."""
        diagnosis = self._diagnosed(text, "", ())
        try:
            seen = lookup.seen(self._settings.store, diagnosis.report)
        except DiagnoseError as error:
            raise ToolError(str(error)) from error
        return _seen(diagnosis._replace(seen=seen))

    def _diagnosed(self, given: str, file: str, sources: Sequence[str]) -> Diagnosis:
        """The answer to a text or a file; what came as a text has no name that a command could be given."""
        if bool(given.strip()) == bool(file):
            raise ToolError("give either a text or a file")
        casebase = load(lang=self._settings.lang)
        try:
            folders = [str(self._inside(folder)) for folder in sources]
            found = per_report(folders, off=not folders)()
            if not file:
                return diagnose(given, "", casebase=casebase, sources=found)
            with opened(str(self._inside(file))) as stream:
                return diagnose(read_fully(stream, LARGEST), file, casebase=casebase, sources=found)
        except DiagnoseError as error:
            raise ToolError(str(error)) from error

    def _inside(self, path: str) -> Path:
        """A path within the folders that the server reads in."""
        roots = [root.resolve() for root in self._settings.roots]
        whole = (roots[0] / path).resolve()
        if not any(whole.is_relative_to(root) for root in roots):
            raise ToolError(f"{clean(path)} is outside of the folders that the server reads in")
        if not whole.exists():
            raise ToolError(f"there is no {clean(path)}")
        return whole


def _page(diagnosis: Diagnosis, *, full: bool) -> str:
    if full:
        return full_text.render(diagnosis, columns=_COLUMNS)
    return brief_text.render(diagnosis, columns=_COLUMNS)


def _next(diagnosis: Diagnosis) -> list[str]:
    """At most three commands, each complete."""
    if not diagnosis.causes:
        return []
    explained = f"diagnose explain {diagnosis.causes[0].id}"
    return [one for one in (repair(diagnosis), check(diagnosis), explained) if one]


def _seen(diagnosis: Diagnosis) -> CallToolResult:
    seen = diagnosis.seen
    said = clean(seen_line(seen, diagnosis.lang)) if seen is not None else "-"
    return _result(said, {"seen": seen and seen_as_dict(seen), "quoted": _OF_STORE})


def _result(
    said: str, structured: dict[str, Any], links: Sequence[tuple[str, str, str]] = ()
) -> CallToolResult:
    """An answer as text and as values, with links to what diagnose documents."""
    content: list[ContentBlock] = [TextContent(text=said)]
    content += [
        ResourceLink(uri=f"diagnose://{kind}/{id}", name=id, title=title, mime_type=PLAIN)
        for kind, id, title in links
    ]
    return CallToolResult(content=content, structured_content=structured)
