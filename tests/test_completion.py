"""Tab completion: what docs/what-to-type.md has people put into their shells completes there."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from console import commands, environment, run

import diagnose

SOURCE = Path(diagnose.__file__).parents[1]
PAGE = (Path(__file__).parents[1] / "docs" / "what-to-type.md").read_text(encoding="utf-8")
#: What completion reads at the start of each shell, as the page has it.
LINES = dict(
    re.findall(r"^(.*_DIAGNOSE_COMPLETE=(?:bash|zsh|fish)_source.*?) +# (\w+)$", PAGE, re.M)
)
#: Shells without a person's own settings, in which a Tab completes.
STARTED = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
_PATIENCE = 120.0


def typed(shell: str, folder: Path, casebase: Path, keys: str, awaited: str) -> str:
    """What a shell shows on a terminal once so many keys are typed, up to what is awaited."""
    import pty  # which Windows lacks

    (line,) = (line for line, name in LINES.items() if name == shell)
    begun = {"zsh": "autoload -Uz compinit && compinit -u"}.get(shell, "true")
    bin = commands(folder / "bin", "diagnose")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        STARTED[shell],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=folder,
        env=environment(bin, SOURCE, DIAGNOSE_CASEBASE=str(casebase), TERM="dumb"),
        start_new_session=True,
    )
    os.close(slave)
    try:
        os.write(master, f"{begun}; {line}; echo rea''dy\n".encode())
        _until(master, "ready")
        os.write(master, f"{keys}\t".encode())
        return _until(master, awaited)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def _until(terminal: int, awaited: str) -> str:
    shown, ends = "", time.monotonic() + _PATIENCE
    while awaited not in shown and time.monotonic() < ends:
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 65536).decode(errors="replace")
    return shown


@pytest.mark.parametrize("shell", STARTED)
def test_a_tab_completes_in_the_shell(shell: str, casebase_path: Path, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    shown = typed(shell, tmp_path, casebase_path, "diagnose explain cross-sh", "cross-shard-op")
    assert "cross-shard-op" in shown


@pytest.mark.parametrize("shell", STARTED)
def test_a_shell_is_told_how_to_complete(shell: str, tmp_path: Path) -> None:
    assert shell in LINES.values()
    bin = commands(tmp_path / "bin", "diagnose")
    told = run(tmp_path, "diagnose", bin, SOURCE, _DIAGNOSE_COMPLETE=f"{shell}_source")
    assert "_DIAGNOSE_COMPLETE" in told


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("diagnose ex", "explain"),
        ("diagnose explain cross-sh", "cross-shard-op"),
        ("diagnose explain --verification rank-d", "rank-device"),
        ("diagnose train.log --fo", "--format"),
        ("diagnose --fu", "--full"),
        ("diagnose --as", "--ask"),
        ("diagnose run --simu", "--simulate"),
        ("diagnose kb ev", "evaluate"),
        ("diagnose check --select cross-sh", "cross-shard-op"),
        ("diagnose check --ignore created-w", "created-without-device"),
        ("diagnose kb check easyedit-mem", "easyedit-memit-delta"),
        ("diagnose --format gi", "github"),
    ],
)
def test_a_word_is_completed(line: str, offered: str, casebase_path: Path, tmp_path: Path) -> None:
    bin = commands(tmp_path / "bin", "diagnose")
    told = run(
        tmp_path,
        "diagnose",
        bin,
        SOURCE,
        _DIAGNOSE_COMPLETE="bash_complete",
        DIAGNOSE_CASEBASE=str(casebase_path),
        COMP_WORDS=line,
        COMP_CWORD=str(line.count(" ")),
    )
    assert f"plain,{offered}" in told.splitlines()
