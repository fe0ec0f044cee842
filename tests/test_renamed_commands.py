"""The command lines of the last release still work, and say what they are called now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from diagnose.commands import RENAMED
from diagnose.commands.renamed import current, options

TRACES = Path(__file__).parent / "traces"


@pytest.mark.parametrize(
    ("old", "now"),
    [
        ("simulate train.py --gpus 9", "run --simulate train.py --gpus 9"),
        ("simulate --gpus 3 --audit train.py", "run --simulate=3 --audit train.py"),
        ("simulate --gpus=3 train.py", "run --simulate=3 train.py"),
        ("simulate --report a.json train.py", "run --simulate --output a.json train.py"),
        ("verify rank-device", "explain --verification rank-device"),
        (
            "verify --write v.py rank-device",
            "explain --verification --output v.py rank-device",
        ),
        ("verify --run rank-device", "run --verify=rank-device"),
        ("verify rank-device --simulate --gpus 1", "run --simulate=1 --verify=rank-device"),
        ("verify --from a.log", "answer --verification - a.log"),
        ("verify --from a.log --write v.py", "answer --verification v.py a.log"),
        (
            "verify --from a.log --simulate --steps 2 train.py --run",
            "run --simulate --verify=a.log --steps 2 train.py --run",
        ),
        ("verify rank-device train.py -x", "run --verify=rank-device train.py -x"),
        ("verify train.py", "run --verify= train.py"),
        ("scan --format table runs", "answer --group --format text runs"),
        ("search loss is nan", "explain loss is nan"),
        ("why --no-source a.log", "kb why --no-source a.log"),
        ("evaluate --misses labelled", "kb evaluate --misses labelled"),
        ("cases list --by cause", "explain"),
        ("cases show rank-device", "explain rank-device"),
        ("cases check --run", "kb check --run"),
    ],
)
def test_an_old_line_is_read_as_the_new_one(old: str, now: str) -> None:
    assert current(old.split()) == now.split()


def test_an_old_option_is_read_as_the_new_one() -> None:
    old = ["kb", "evaluate", "--plot", "c.svg", "--save=run.json", "--misses", "mine"]
    now = ["kb", "evaluate", "--output", "c.svg", "--output=run.json", "--misses", "mine"]
    assert options(old) == (now, {"--plot": "--output", "--save": "--output"})
    scripts = ["run", "train.py", "--save", "x"]
    assert options(scripts) == (scripts, {})


def test_an_old_option_of_an_old_command_answers_with_both_hints() -> None:
    words = [sys.executable, "-m", "diagnose", "evaluate", "--plot", "c.svg", "--help"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0
    hints = ("`evaluate` is now `kb evaluate`", "`--plot` is now `--output`")
    assert [hint in line for hint, line in zip(hints, done.stderr.splitlines(), strict=True)] == [
        True,
        True,
    ]


@pytest.mark.parametrize("name", RENAMED)
def test_an_old_name_answers_with_a_hint(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "diagnose", name, "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: ")
    assert f"`{name}` is now `{RENAMED[name]}`" in done.stderr


def test_an_old_line_gives_what_the_new_one_gives() -> None:
    trace = str(TRACES / "easyedit-memit-delta.txt")
    old, now = (
        subprocess.run([sys.executable, "-m", "diagnose", *words], capture_output=True)
        for words in (["scan", trace], ["--group", trace])
    )
    assert (old.returncode, old.stdout) == (now.returncode, now.stdout)
    assert old.stdout.startswith(b"1 kind of failure")
