"""The copy that programs run in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diagnose.repair.workspace import Workspace


def test_an_edit_of_two_cells_fits_into_no_notebook(tmp_path: Path) -> None:
    sources = ["a = 1\nb = 2", "c = 3"]
    cells = [
        {"cell_type": "code", "source": source.splitlines(keepends=True)} for source in sources
    ]
    user = tmp_path / "user"
    user.mkdir()
    (user / "n.ipynb").write_text(json.dumps({"cells": cells}, indent=1) + "\n")
    workspace = Workspace(user, tmp_path / "home", ["n.ipynb"])
    assert workspace.text("n.ipynb") == "a = 1\nb = 2\nc = 3\n"
    after = workspace.edited("n.ipynb", "a = 1\nb = 4\nc = 3\n")
    assert after is not None and json.loads(after)["cells"][0]["source"] == ["a = 1\n", "b = 4"]
    assert workspace.edited("n.ipynb", "a = 1\nx = (2,\n3)\n") is None
    assert workspace.document("n.ipynb") == (user / "n.ipynb").read_text()


@pytest.mark.parametrize("cut", [0, 2, 3])
def test_a_sentence_tells_files_as_the_user_sees_them(tmp_path: Path, cut: int) -> None:
    user = tmp_path / "user"
    user.mkdir()
    workspace = Workspace(user, Path("/tmp/home"))
    printed = "/".join(str(workspace.folder / "layers/adjust.py").split("/")[cut:])
    said = f"table is made at {printed}:4, below user"
    assert workspace.told(said) == "table is made at layers/adjust.py:4, below user"
