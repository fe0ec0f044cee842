"""No command line with too little in it ends as an internal error."""

from __future__ import annotations

import io
import itertools
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest

from diagnose.cli import main
from diagnose.commands.doors import doors

FAULT = 4
#: What may stand before a script.
LAUNCHERS = ("python", "python3", "torchrun", "torch.distributed.run", "accelerate", "deepspeed")


def commands(
    group: click.Group, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """All commands that are no groups, by their names."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from commands(found, (*path, name))
        elif found is not None:
            yield (*path, name), found


COMMANDS = dict(commands(doors))


def lines(path: Sequence[str], command: click.Command) -> Iterator[tuple[str, ...]]:
    """Flags alone and in pairs, options without a value or with an empty one; launchers without a script."""
    flags, valued = list[str](), list[str]()
    for option in command.params:
        if isinstance(option, click.Option):
            (flags if option.is_flag else valued).extend((*option.opts, *option.secondary_opts))
    wanting = [(option,) for option in valued if option != "--verify"]
    yield from wanting
    yield from ((flag, *one) for flag in flags for one in wanting)
    if path in (("serve",), ("mcp",)):
        return  # what lacks nothing serves
    yield from ((), ("--",), ("-",), ("",))
    yield from ((flag,) for flag in flags)
    yield from itertools.combinations(flags, 2)
    yield from ((option, "") for option in valued if option != "--verify")
    if path in (("run",), ("fix",)):
        for launcher, rest in itertools.product(LAUNCHERS, [(), ("-m",), ("-m", "."), ("-m", "")]):
            yield from ((*flag, launcher, *rest) for flag in ((), *((one,) for one in flags)))


@pytest.mark.faults
@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_a_line_that_lacks_something_is_no_fault(
    path: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "execve", lambda *_: sys.exit(0))  # it would be another program
    faults = []
    for words in dict.fromkeys(lines(path, COMMANDS[path])):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
        with pytest.raises(SystemExit) as end:
            main([*path, *words])
        if end.value.code == FAULT:
            faults.append(words)
    assert not faults
