"""docs/json.md, "Exit status": the command of each row ends with the status that its row gives."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import forked
import pytest

from diagnose import cli

pytest.importorskip("torch")

ROOT = Path(__file__).parents[1]
SECTION = (ROOT / "docs/json.md").read_text(encoding="utf-8").split("## Exit status\n")[1]
ROWS = [(row[1], int(row[2])) for row in re.finditer(r"^\| `(.+?)` \| (\d) \|", SECTION, re.M)]
#: The one status that no input brings about.
FAULT = 4
FILES = {
    "shapes.txt": "Traceback (most recent call last):\n"
    '  File "/w/a.py", line 3, in <module>\n    y = a @ b\n'
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x4 and 3x2)\n",
    "healthy.txt": "step 1 loss 2.31\n",
    "healthy/1.log": "step 1 loss 2.31\n",
    "good.py": 'import torch\nprint(torch.ones(2, device="cuda").sum().item())\n',
    "bad.py": 'import torch\nx = torch.ones(2, device="cuda")\n'
    "y = torch.ones(2)\nprint((x + y).sum().item())\n",
    "broken.py": 'raise ValueError("nothing about devices")\n',
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the rows name."""
    made = tmp_path_factory.mktemp("rows")
    for name in ("healthy", "empty", "runs"):
        (made / name).mkdir()
    for name, text in FILES.items():
        (made / name).write_text(text)
    for name in ("traceback.txt", "runs/1.log"):
        shutil.copy(ROOT / "tests/traces/easyedit-memit-delta.txt", made / name)
    return made


@pytest.mark.faults
@pytest.mark.parametrize(("command", "status"), ROWS)
def test_a_command_ends_with_the_status_of_its_row(
    command: str,
    status: int,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if status == FAULT:
        monkeypatch.chdir(folder)
        monkeypatch.setattr("diagnose.pipeline.parse_stream", lambda *_, **__: [][0])
        with pytest.raises(SystemExit) as end:
            cli.main(command.split()[1:])
        assert end.value.code == status
        return
    name, *words = command.split()
    assert name == "diagnose"
    done = forked.command(folder, *words)
    assert done.returncode == status, done.stdout + done.stderr


def test_the_table_has_every_status_and_every_command() -> None:
    assert {status for _, status in ROWS} == set(range(5))
    named = {word for command, _ in ROWS for word in command.split()[1:2]}
    assert {"run", "fix", "check", "explain", "kb"} <= named
