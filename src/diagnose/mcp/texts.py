"""The words that agents read: texts.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from diagnose import _toml


class ToolText(NamedTuple):
    """What a tool is called, when to call it and what it gives, and what its parameters are."""

    title: str
    about: str
    parameters: Mapping[str, str]


class Texts(NamedTuple):
    """What diagnose is for, how far its answers are to be trusted, and its tools by name."""

    about: str
    trust: str
    tools: Mapping[str, ToolText]


@cache
def texts() -> Texts:
    """texts.toml as it stands in the package."""
    read = _toml.loads(files(__package__).joinpath("texts.toml").read_text("utf-8"))
    tools = {
        name: ToolText(tool["title"], tool["about"].strip(), tool["parameters"])
        for name, tool in read["tools"].items()
    }
    return Texts(read["about"].strip(), read["trust"].strip(), tools)
