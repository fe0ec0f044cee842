"""``diagnose explain ID``: a cause or an incident in full, as `rustc --explain` does for its errors."""

from __future__ import annotations

import click

from diagnose.casebase.store import Casebase, load
from diagnose.commands.shared import LANG, fail, ids, near
from diagnose.model import Cause, Incident, Lang
from diagnose.placeholders import in_general
from diagnose.rendering.labels import LABELS


@click.command()
@click.argument("ident", metavar="ID", shell_complete=ids)
@LANG
def explain(ident: str, lang: Lang) -> None:
    """Explain a cause (cross-shard-op) or an incident in full.

    A cause's erroneous and corrected code is run by diagnose's own tests on simulated GPUs.
    """
    casebase = load(lang=lang)
    if ident in casebase.causes:
        click.echo(_cause(casebase.causes[ident], casebase))
    elif ident in casebase.incidents:
        click.echo(_incident(casebase.incidents[ident], casebase))
    else:
        hint = near(ident, [*casebase.causes, *casebase.incidents])
        fail(f"there is no cause or incident {ident!r}.{hint} `diagnose cases list` shows them.")


def _cause(cause: Cause, casebase: Casebase) -> str:
    parts = [f"{cause.id}: {cause.title}", cause.why, cause.tell]
    parts += [f"- {_rival(rival, text, casebase.lang)}" for rival, text in cause.rather.items()]
    parts.append(cause.example.strip())
    for number, fix in enumerate(cause.fixes, 1):
        lines = [f"{number}. {fix.title} [{fix.kind}]"]
        lines += [f"   - {line}" for line in (fix.before or "").splitlines()]
        lines += [f"   + {line}" for line in (fix.after or "").splitlines()]
        lines += [f"   $ {line}" for line in in_general(fix.command or "").splitlines()]
        parts.append("\n".join(lines))
    known = [i for i in casebase.incidents.values() if i.cause == cause.id]
    parts += [f"* {i.id}: {i.title}\n  {i.url}" for i in known]
    parts.append(f"diagnose verify {cause.id} YOUR_SCRIPT.py")
    return "\n\n".join(parts)


def _rival(rival: str, text: str, lang: Lang) -> str:
    """What supports a rival, which is named: beside the rival itself, the sentence says "this"."""
    labels = LABELS[lang]
    return text.replace(labels["rather-this"], labels["rather-named"].format(cause=rival), 1)


def _incident(incident: Incident, casebase: Casebase) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in incident.versions.items())
    parts = [
        f"{incident.id}: {incident.title}",
        f"{casebase.causes[incident.cause].title} [{incident.cause}]"
        + (f"\n{versions}" if versions else ""),
        incident.saw,
        f"{incident.exception or ''}: {incident.message}" if incident.message else "",
        incident.was,
        incident.mended,
        "\n".join(f"{source.url}\n  {source.supports}" for source in incident.sources),
        "\n".join(f"inferred, {one}" for one in incident.inferred),
        incident.reproduce.strip(),
    ]
    return "\n\n".join(part for part in parts if part)
