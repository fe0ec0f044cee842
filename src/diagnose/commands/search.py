"""``diagnose search WORDS``: incidents and causes by what people saw, for failures that raise no error."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict

import click

from diagnose.casebase.search import Hit
from diagnose.casebase.search import search as found_by
from diagnose.casebase.store import load
from diagnose.model import Lang
from diagnose.rendering.words import wrap

_NOTHING = 3
_INDENT = "      "
_TEXTS = {
    "en": (
        "Nothing in the case base speaks of this. Try other words for what you see, or fewer.",
        "In full: diagnose explain {id}   To check your machine: diagnose verify {id} --run",
    ),
    "zh": (
        "案例库中没有提到这些内容。请换一种说法描述现象，或减少词语。",
        "详情：diagnose explain {id}   检查本机：diagnose verify {id} --run",
    ),
}


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="WORDS...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Form of the answer; json prints one object.",
)
@click.option(
    "--top",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    metavar="N",
    help="Show at most N entries.",
)
@click.option(
    "--lang",
    type=click.Choice(["en", "zh"]),
    default="en",
    show_default=True,
    envvar="DIAGNOSE_LANG",
    help="Language of the answer; the words may be of either.",
)
def search(words: tuple[str, ...], form: str, top: int, lang: Lang) -> None:
    """Find incidents and causes by WORDS that say what you see.

    For failures that raise no error, where there is no traceback to read:

    \b
      diagnose search "loss is nan after .to(cuda:1)"
      diagnose search 两张卡输出乱码，单卡正常

    The score is the share of your words, rare ones weighing more, that an entry speaks of.
    Exit status: 0 something was found, 3 nothing, 2 bad usage or an unusable case base.
    """
    query = " ".join(words).encode("utf-8", "replace").decode()
    others: list[Lang] = ["zh"] if lang == "en" else ["en"]
    hits = found_by(query, [load(lang=each) for each in [lang, *others]], top=top)
    if form == "json":
        answer = {"schema": 1, "query": query, "results": [asdict(hit) for hit in hits]}
        click.echo(json.dumps(answer, ensure_ascii=False))
    else:
        click.echo(_text(hits, lang))
    sys.exit(0 if hits else _NOTHING)


def _text(hits: tuple[Hit, ...], lang: Lang) -> str:
    """The entries, best first, and how to go on with the first of them."""
    nothing, further = _TEXTS[lang]
    if not hits:
        return nothing
    columns = min(max(shutil.get_terminal_size((80, 24)).columns, 60), 120)
    lines: list[str] = []
    for hit in hits:
        title = wrap(hit.title, columns - len(_INDENT))
        named = hit.id if hit.kind == "cause" else f"{hit.id}  [{hit.cause}]"
        lines += [f"{hit.score:4.2f}  {title[0]}", *(f"{_INDENT}{line}" for line in title[1:])]
        lines += [f"{_INDENT}{named}", *([f"{_INDENT}{hit.url}"] if hit.url else []), ""]
    return "\n".join([*lines, further.format(id=hits[0].id)])
