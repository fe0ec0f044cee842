"""What every fuzzer holds an answer to: all doors answer, in time, and no edit is anything but Python.

The checks of edits share no code with what makes them: they parse, compare and apply by themselves.
"""

from __future__ import annotations

import ast
import io
import json
import linecache
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from diagnose import pipeline
from diagnose.authoring.drafts import draft, proposed_slug
from diagnose.casebase.store import load
from diagnose.fixes.diff import edit, patch
from diagnose.fixes.edits import EDITS
from diagnose.fixes.line_gate import Refused, Site
from diagnose.hooks import live
from diagnose.model import Diagnosis, Edit, Fix
from diagnose.rendering import json as as_json
from diagnose.rendering import markdown, text
from diagnose.scanning.log import scan_stream
from diagnose.scene import Scene
from diagnose.sources import Sources
from diagnose.web.app import create_app

SLOW = 1.0
#: Every so many inputs go through the doors that cost more, and are answered in Chinese.
WEB, SCAN, CHINESE, PROGRAM, DRAFT, HOOK = 23, 29, 3, 31, 37, 19
_WRAPPED = (
    ("", ""), ("", " pass"), ("", "C"), ("", "_C"), ("", "C: pass"), ("", "_C: pass"), ("_(", "C)"),
    ("_(_ ", "C)"), ("(_ if _ ", "C)"), ("(", ")"), ("_(", ")"),
)  # fmt: skip
_INSERTED = {"to", "cuda", "detach", "cpu", "numpy"}
#: Kinds whose edit only inserts: without what it inserts the line is what it was.
_INSERTING = {
    *(
        "move-tensor-at-line",
        "patch-library-line",
        "index-to-device",
        "move-input",
        "create-on-device",
    ),
    *("map-location",),
}


class Judge:
    """Answers inputs through all doors, and tells what is wrong with an answer; an answer may take ``slow``
    seconds of the processor, which say nothing on a machine that does much else."""

    def __init__(self, slow: float = SLOW) -> None:
        self._slow = slow
        self.seen = dict.fromkeys(("inputs", "answers", "edits", "patches", "programs"), 0)
        self.verdicts: dict[str, int] = {}
        self.slowest = 0.0
        self._casebases = {lang: load(lang=lang) for lang in ("en", "zh")}  # type: ignore[arg-type]
        self._client = create_app().test_client()

    def findings(self, data: bytes, name: str = "-") -> list[str]:
        """What is wrong with the answers to one input; empty where nothing is."""
        number = self.seen["inputs"]
        self.seen["inputs"] += 1
        lang = "zh" if number % CHINESE == 0 else "en"
        casebase = self._casebases[lang]
        start = time.process_time()
        diagnosis = pipeline.diagnose(io.BytesIO(data), name, casebase=casebase, sources=Sources())
        used = time.process_time() - start
        self.slowest = max(self.slowest, used)
        found = [f"took {used:.2f} s"] if used > self._slow else []
        self.verdicts[diagnosis.verdict] = self.verdicts.get(diagnosis.verdict, 0) + 1
        found += self._answer(diagnosis, number)
        if number % WEB == 0:
            found += self._web(data)
        if number % SCAN == 0:
            scanned = scan_stream(io.BytesIO(data), name, casebase=casebase)
            if scanned.problem or getattr(scanned, "faults", ()):
                found.append(f"scan: {scanned.problem} {scanned.faults}")
        return found

    def _answer(self, diagnosis: Diagnosis, number: int) -> Iterator[str]:
        if diagnosis.incomplete or diagnosis.verdict == "failed":
            yield f"incomplete: {', '.join(map(str, diagnosis.incomplete))}"
        text.render(diagnosis)
        markdown.render(diagnosis)
        json.loads(as_json.render(diagnosis))
        for cause in diagnosis.causes:
            self.seen["answers"] += 1
            for fix in cause.fixes:
                if fix.edit is not None:
                    yield from self.edit(fix, fix.edit)
        if diagnosis.report.mismatch is not None:
            yield from self._every_edit(diagnosis)
        if number % PROGRAM == 0 and diagnosis.causes:
            self.seen["programs"] += 1
            ast.parse(diagnosis.causes[0].verification)
        if number % DRAFT == 0 and diagnosis.causes:
            cause = self._casebases["en"].causes[diagnosis.causes[0].id]
            draft(diagnosis, cause, proposed_slug(diagnosis), guessed=False)

    def _every_edit(self, diagnosis: Diagnosis) -> Iterator[str]:
        """The edits of all kinds of the line, whatever the cause: as if another had been first."""
        scene = Scene(diagnosis.report, self._casebases["en"].knowledge, Sources())
        place, met = scene.site, scene.met
        if place is None or met is None:
            return
        for kind in EDITS:
            try:
                made = edit(kind, Site(place, met, scene))
            except Refused:
                continue
            yield from self.edit(Fix(kind, "", patch=patch(place, made), edit=made), made)

    def _web(self, data: bytes) -> Iterator[str]:
        pasted = data.decode("utf-8", errors="replace")
        page = self._client.post("/", data={"text": pasted})
        answer = self._client.post("/api/v1/diagnoses", json={"text": pasted})
        for door, response in (("page", page), ("API", answer)):
            if response.status_code not in (200, 400, 413):
                yield f"{door}: {response.status_code}"

    def live(self, message: str, line: str, file: str) -> list[str]:
        """What is wrong with the hook's answer where a line of a program fails."""
        name = f"<fuzz {file}>"
        linecache.cache[name] = (len(line), None, [line + "\n"], name)
        try:
            exec(compile("raise RuntimeError(message)", name, "exec"), {"message": message})
        except RuntimeError as error:
            return list(self._answer(live.explain(error), 1))
        finally:
            del linecache.cache[name]
        return []

    def edit(self, fix: Fix, made: Edit) -> Iterator[str]:
        """What is wrong with an edit, and with its diff."""
        self.seen["edits"] += 1
        shown = f"{fix.kind}: {made.before!r} -> {made.after!r}"
        if made.before == made.after:
            yield f"no change: {shown}"
        if fix.patch is not None:
            self.seen["patches"] += 1
            if (wrong := misapplied(fix.patch, made)) is not None:
                yield f"{wrong}: {fix.patch}"
            return  # its lines are a part of a statement, which is judged without the file
        before, after = _trees(made.before, made.after)
        if before is None:
            return  # the fuzzer's line is no Python in any reading of ours
        if after is None:
            yield f"no Python: {shown}"
        elif fix.kind in _INSERTING and _plain(before) != _plain(after):
            yield f"changes more than it says: {shown}"


def _trees(before: str, after: str) -> tuple[ast.AST | None, ast.AST | None]:
    """Both texts parsed in the first reading in which the original parses."""
    for start, end in _WRAPPED:
        one = _parsed(before, start, end)
        if one is not None:
            return one, _parsed(after, start, end)
    return None, None


def _parsed(code: str, start: str, end: str) -> ast.AST | None:
    code = code.strip()
    code = code[2:] if code.startswith("elif ") else code
    closers, quote = [], ""
    for character in code:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "#":
            break
        elif character in "([{":
            closers.append({"(": ")", "[": "]", "{": "}"}[character])
        elif closers and character == closers[-1]:
            closers.pop()
    close = "".join(reversed(closers))
    close = f"\n{close}" if close and "#" in code else close
    try:
        return ast.parse(f"{start}{code}{end.replace('C', close)}")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Plain(ast.NodeTransformer):
    """Takes out whatever an edit may have put in, or put another move in the place of."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _INSERTED:
            return node.func.value
        node.keywords = [k for k in node.keywords if k.arg not in ("device", "map_location")]
        return node


def _plain(tree: ast.AST) -> str:
    return ast.dump(_Plain().visit(tree))


def misapplied(patch: str, edit: Edit) -> str | None:
    """Why a diff does not do to its file what the edit says; None where it does."""
    lines = Path(edit.file).read_bytes().decode("utf-8", errors="surrogateescape").split("\n")
    header, *body = patch.split("\n@@ ", 1)[1].rstrip("\n").split("\n")
    start = int(header.split(",")[0].removeprefix("-")) - 1
    old = [line[1:] for line in body if line[:1] in " -"]
    new = [line[1:] for line in body if line[:1] in " +"]
    counts = header.removesuffix(" @@").replace("-", "").replace("+", "").split(" ")
    if [int(count.split(",")[1]) for count in counts] != [len(old), len(new)]:
        return "counts"
    if lines[start : start + len(old)] != old:
        return "context"
    changed = "\n".join([*lines[:start], *new, *lines[start + len(old) :]])
    before = _whole("\n".join(lines))
    if before is None:
        return None
    after = _whole(changed)
    return "the file is no Python" if after is None else None


def _whole(source: str) -> Any:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
