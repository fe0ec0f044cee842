"""`--help` in Chinese: every user's command and option has its sentence, and none that is there no more."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import click
import pytest

from diagnose.commands import COMMANDS
from diagnose.commands.chinese import sentences

USERS = [name for name in COMMANDS if name != "kb"]


def help_of(*words: str, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "diagnose", *words], capture_output=True, env=env, check=True
    )
    return done.stdout.decode()


@pytest.mark.parametrize("name", USERS)
def test_every_option_has_a_sentence_and_no_sentence_is_left_over(name: str) -> None:
    module, attribute, *_ = COMMANDS[name]
    command: click.Command = getattr(import_module(module), attribute)
    options = {one.name for one in command.params if isinstance(one, click.Option)}
    assert set(sentences()[name]["options"]) == options
    assert sentences()[name]["line"] and sentences()[name]["about"]


def test_commands_and_tasks_are_those_there_are() -> None:
    assert set(sentences()) == {*COMMANDS, "diagnose", "tasks"}
    assert set(sentences()["tasks"]) == {task for *_, task in COMMANDS.values()}


def test_the_overview_and_a_command_speak_chinese() -> None:
    overview = help_of("--help", "--lang", "zh")
    assert "任务失败之后" in overview and "在失败之前找出代码中的设备放置错误" in overview
    shown = help_of("run", "--help", "--lang", "zh")
    assert "在 N 块模拟的 GPU 上运行" in shown
    assert "Run SCRIPT" not in shown


def test_without_a_wish_it_speaks_english() -> None:
    assert "A job has failed" in help_of("--help")
    assert "Run SCRIPT" in help_of("run", "--help")
