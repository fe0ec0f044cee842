"""The language of a page, and the sentences of the pages in it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import cast, get_args

from flask import g, request

from diagnose._toml import loads
from diagnose.model import Lang

LANGS: tuple[Lang, ...] = get_args(Lang)


@lru_cache(maxsize=1)
def texts() -> Mapping[str, Mapping[str, str]]:
    """texts.toml: key -> language -> sentence."""
    source = resources.files("diagnose.web").joinpath("texts.toml").read_text(encoding="utf-8")
    return cast(Mapping[str, Mapping[str, str]], loads(source))


def say(key: str, lang: Lang, /, **values: object) -> str:
    """The sentence ``key`` in a language; plain text, to be escaped like any other."""
    return texts()[key][lang].format(**values) if values else texts()[key][lang]


def chosen() -> Lang | None:
    """The language that the address asks for by ``?lang=``, if it is one of ours."""
    asked = request.args.get("lang")
    return next((lang for lang in LANGS if lang == asked), None)


def current() -> Lang:
    """The language of the page being made: the address's, else the browser's, else English."""
    if "lang" not in g:
        g.lang = chosen() or request.accept_languages.best_match(LANGS, default="en")
    return cast(Lang, g.lang)
