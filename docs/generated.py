"""The pages that are made of the code and of kb/: commands, causes, rules, the API's description."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path

import click

from diagnose.casebase.store import Casebase, load
from diagnose.commands.doors import doors
from diagnose.model import Cause, FixTemplate
from diagnose.placeholders import in_general


def pages() -> Mapping[str, str]:
    """The text of each generated page by its name, in MyST's Markdown."""
    casebase = load()
    return {
        "commands": commands(),
        "causes": causes(casebase),
        "rules": rules(casebase),
        "openapi": openapi(),
    }


def write(folder: Path) -> None:
    """Puts the pages into a folder; a page that is there already and the same is left alone."""
    for name, text in pages().items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def commands() -> str:
    """What ``--help`` of each command prints."""
    parts = ["# Commands\n", _fenced("text", _help(doors, "diagnose"))]
    with click.Context(doors, info_name="diagnose") as context:
        for name in doors.list_commands(context):
            parts += _commands(doors.get_command(context, name), f"diagnose {name}", "##")
    return "\n".join(parts)


def _commands(command: click.Command | None, path: str, level: str) -> Iterator[str]:
    """A command and those below it."""
    assert command is not None
    yield f"{level} {path}\n"
    yield _fenced("text", _help(command, path))
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _commands(inner, f"{path} {name}", f"{level}#")


def _help(command: click.Command, path: str) -> str:
    context = click.Context(command, info_name=path, terminal_width=100, max_content_width=100)
    return command.get_help(context)


def causes(casebase: Casebase) -> str:
    """Each root cause: why, how it is recognised, its fixes, its code."""
    head = f"# Causes\n\nThe {len(casebase.causes)} root causes, as `diagnose explain ID` shows them.\n"
    ordered = sorted(casebase.causes.values(), key=lambda cause: cause.id)
    return "\n".join([head, *(_cause(cause) for cause in ordered)])


def _cause(cause: Cause) -> str:
    fixes = (f"{n}. {_fix(fix)}" for n, fix in enumerate(cause.fixes, 1))
    rivals = (f"* `{rival}`: {_plain(text)}\n" for rival, text in cause.rather.items())
    return "\n".join(
        [
            f"## {cause.id}\n\n**{_plain(cause.title)}.** {_plain(cause.why)}\n",
            f"{_plain(cause.tell)}\n\nFixes, in the order to try:\n",
            *fixes,
            "Other causes that look alike:\n" if cause.rather else "",
            *rivals,
            "The mistake and its correction, run by the tests:\n",
            _fenced("python", cause.example),
        ]
    )


def _fix(fix: FixTemplate) -> str:
    """A fix with its code, indented as an item of a list."""
    shown = f"{_plain(fix.title)} (`{fix.kind}`)\n"
    if fix.command:
        shown += f"\n{_fenced('sh', in_general(fix.command))}"
    elif fix.before or fix.after:
        removed = (f"- {line}" for line in (fix.before or "").splitlines())
        added = (f"+ {line}" for line in (fix.after or "").splitlines())
        changed = in_general("\n".join([*removed, *added]))
        shown += f"\n{_fenced('diff', changed)}"
    return shown.replace("\n", "\n   ").rstrip() + "\n"


def rules(casebase: Casebase) -> str:
    """The rules of ``diagnose check``."""
    rows = ["# Rules of check\n", "| id | what is found | fix | |", "|---|---|---|---|"]
    for rule in casebase.checks():
        fix = " or ".join(f"`{kind}`" for kind in rule.fixes)
        safety = rule.safety if rule.because is None else f"{rule.safety}: {rule.because}"
        preview = "preview" if rule.preview else ""
        found = f"[`{rule.id}`](causes.md#{rule.id})"
        rows.append(
            f"| {found} | {_plain(casebase.causes[rule.id].title)} | {fix} ({_plain(safety)}) | {preview} |"
        )
    own = casebase.accelerator()
    rows.append(f"| `accelerator` | {_plain(own.title)} | `use-accelerator` | where selected |")
    rows.append(
        "\nSafe fixes are made by `--fix`, the others by `--unsafe-fixes` ([check](checking.md))."
    )
    return "\n".join(rows) + "\n"


def openapi() -> str:
    """The addresses of the API, and the JSON Schema of what they take and give."""
    text = resources.files("diagnose.web").joinpath("openapi.json").read_text(encoding="utf-8")
    described = json.loads(text)
    rows = [
        f"| `{verb.upper()} {path}` | {operation['summary']} |"
        for path, verbs in described["paths"].items()
        for verb, operation in verbs.items()
        if "summary" in operation
    ]
    parts = ["# API description\n", "| address | |", "|---|---|", *rows]
    parts.append(
        "\nThe objects as JSON Schema; `GET /api/v1/openapi.json` serves the whole description.\n"
    )
    for name, schema in described["components"]["schemas"].items():
        parts += [f"## {name}\n", _fenced("json", json.dumps(schema, indent=2))]
    return "\n".join(parts)


def _plain(text: str) -> str:
    """A sentence of which nothing is read as Markdown."""
    return re.sub(r"[\\*_\[\]<`]", r"\\\g<0>", text)


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"
