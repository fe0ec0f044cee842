"""``diagnose remember``: writes down what fixed a failure, for whoever meets it next."""

from __future__ import annotations

import getpass
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_args

import click

from diagnose.commands.shared import LANG, NO_SOURCE, SOURCE, STORE
from diagnose.errors import FAULT, NOTHING
from diagnose.model import Diagnosis, Lang, Outcome

if TYPE_CHECKING:
    from diagnose.memory.store import Store

#: The largest input that is stored.
LARGEST = 5 << 20
#: The most of an edit that stands in a command to copy.
_EDIT = 400
#: Stands in the command where nobody knows the log or the edit.
_LOG, _TEXT = "LOG", "..."


def offer(diff: str, log: str | None, lang: Lang) -> None:
    """Says by which command what has fixed a failure is remembered, in one line on standard error.

    Args:
        diff: the edit, as a unified diff; empty where nobody knows it.
        log: the file that holds the failure, where there is one.
        lang: language of the sentence.
    """
    from diagnose.repair.words import say

    lines = (one for one in diff.splitlines() if one.startswith(("+", "-")))
    edit = " ".join(f"{one[0]} {one[1:]}" for one in lines if one[:3] not in ("+++", "---"))
    edit = " ".join(edit.split())
    text = "".join(char for char in edit[:_EDIT] if char.isprintable()) or _TEXT
    command = shlex.join(["diagnose", "remember", "--fixed-by", text, log or _LOG])
    click.echo(f"diagnose: {say(lang, 'remember', command=command)}", err=True)


def edited(file: Path) -> str:
    """What git says has changed in a file, as a unified diff; empty where it knows nothing of it."""
    git = shutil.which("git")
    if git is None or not file.is_file():
        return ""
    command = [git, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "-U0", "HEAD", "--"]
    done = subprocess.run(
        [*command, file.name], cwd=file.parent, capture_output=True, text=True, errors="replace"
    )
    return done.stdout if done.returncode == 0 else ""


@click.command()
@click.argument("file", type=click.Path(path_type=str), default="-")
@click.option(
    "--fixed-by", "text", required=True, metavar="TEXT", help="What fixed it, in your words."
)
@click.option(
    "--outcome",
    type=click.Choice(get_args(Outcome)),
    default="worked",
    show_default=True,
    help="What came of it: it worked as written, it worked changed, it failed.",
)
@click.option("--commit", metavar="SHA", help="The change that holds the fix.")
@click.option("--link", metavar="URL", help="Where one can read more; may be a private address.")
@click.option("--cause", metavar="ID", help="What it was, where the answer named another cause.")
@click.option("--by", metavar="NAME", help="Who says so; by default your user name.")
@click.option("--host", metavar="NAME", help="Where it failed; by default this machine.")
@STORE
@SOURCE
@NO_SOURCE
@LANG
def remember(
    file: str,
    text: str,
    outcome: Outcome,
    commit: str | None,
    link: str | None,
    cause: str | None,
    by: str | None,
    host: str | None,
    store: str | None,
    source: tuple[str, ...],
    no_source: bool,
    lang: Lang,
) -> None:
    """Write down what fixed the failure in FILE, or in standard input.

    The next answer to the same failure says it first. Secrets, home folders and addresses are taken out
    before anything is stored.

    \b
      diagnose remember --fixed-by "pass device= to arange" --commit a1b2c3 < trace.txt
    """
    from diagnose.casebase.store import load
    from diagnose.inputs import opened
    from diagnose.memory import lookup
    from diagnose.memory.redaction import redactor
    from diagnose.memory.store import Store
    from diagnose.outputs import write
    from diagnose.parsing.bytestream import read_fully
    from diagnose.parsing.decoding import decode
    from diagnose.pipeline import diagnose
    from diagnose.rendering.answer import answer
    from diagnose.rendering.labels import LABELS
    from diagnose.rendering.words import clean
    from diagnose.sources import per_report

    where = lookup.location(store)
    if where is None:
        raise click.UsageError("there is no store to write to: --store none")
    casebase = load(lang=lang)
    if cause is not None and cause not in casebase.causes:
        raise click.UsageError(f"there is no cause {cause!r}; `diagnose explain` lists them")
    with opened(file) as stream:
        given = decode(read_fully(stream, LARGEST))
    diagnosis = diagnose(
        given, file, casebase=casebase, sources=per_report(source, off=no_source)()
    )
    if diagnosis.report.error is None:
        click.echo(f"diagnose: {answer(diagnosis, clean(file)).ending}", err=True)
        sys.exit(FAULT if diagnosis.verdict == "failed" else NOTHING)
    kept = Store(where, redactor(casebase.redaction().rules))
    tried = Tried(text, by or getpass.getuser(), outcome, commit, link, cause)
    said = answer(remembered(kept, given, diagnosis, tried, host), file).seen
    write(LABELS[lang]["remembered"].format(seen=clean(said), store=clean(kept.shown)) + "\n")


class Tried(NamedTuple):
    """What somebody did about a failure, who says so, and what came of it, as `Store.remember` has it."""

    text: str
    by: str
    outcome: Outcome = "worked"
    commit: str | None = None
    link: str | None = None
    cause: str | None = None


def remembered(
    store: Store, given: str, diagnosis: Diagnosis, tried: Tried, host: str | None = None
) -> Diagnosis:
    """Writes down a failure and what was done about it.

    Args:
        store: where.
        given: the input, which names an error.
        diagnosis: its answer.
        tried: what was done.
        host: where it failed; this machine if None.

    Returns:
        The answer with all that is remembered now.

    Raises:
        StoreError: it cannot be written.
    """
    from diagnose.memory.records import Input

    source = diagnosis.report.source
    here = Input(given, source, diagnosis.lang, host=host or socket.gethostname())
    group = store.record(here, diagnosis).group
    store.remember(group, **tried._asdict())
    return diagnosis._replace(seen=store.remembered(group))
