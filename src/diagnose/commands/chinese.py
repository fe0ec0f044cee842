"""``--help`` in Chinese: the sentences of help_zh.toml in place of those in the code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click

from diagnose._toml import loads


def is_wanted(args: Sequence[str]) -> bool:
    """Whether a command line asks for help, and for Chinese: by ``--lang zh`` or the environment."""
    helped = not {"-h", "--help"}.isdisjoint(args)
    words = " ".join(args)
    chosen = "--lang zh" in words or "--lang=zh" in words
    return helped and (
        chosen or ("--lang" not in words and os.environ.get("DIAGNOSE_LANG") == "zh")
    )


@cache
def sentences() -> dict[str, Any]:
    """By command: ``about``, ``line`` and ``options``; ``tasks`` are the headings of the overview."""
    found: dict[str, Any] = loads(Path(__file__).with_name("help_zh.toml").read_text("utf-8"))
    return found


def translated(command: click.Command, name: str) -> click.Command:
    """The command with Chinese help; as it is where there is none."""
    said = sentences().get(name, {})
    if "about" in said:
        command.help = said["about"].strip()
    for param in command.params:
        if isinstance(param, click.Option) and param.name in said.get("options", {}):
            param.help = said["options"][param.name]
    return command
