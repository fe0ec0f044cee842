"""What is imported once for all runs of a program: all that it imports of installed packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

#: A package that imports its parts when they are asked for, as large ones do.
LAZY = """\
import importlib
def __getattr__(name):
    if name == "Engine":
        return importlib.import_module("works.engines").Engine
    raise AttributeError(name)
"""
PROGRAM = """\
import works.tools, ours
from works import Engine, Missing
from works.deep import *
from ours import part
def later():
    from works.late import now
"""
ASKED = """\
import sys
from pathlib import Path
from diagnose.repairing.running.warming import warm
warm(Path(sys.argv[1]))
print(*sorted(name for name in sys.modules if name.partition(".")[0] in ("works", "ours")))
"""


def test_what_a_program_takes_of_installed_packages_is_imported_and_nothing_of_its_own(
    tmp_path: Path,
) -> None:
    package = tmp_path / "site-packages" / "works"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(LAZY)
    for part in ("engines", "tools", "deep", "late", "unused"):
        (package / f"{part}.py").write_text("class Engine: pass\nnow = 1\nprint('said once')\n")
    (tmp_path / "ours.py").write_text("part = 1\n")
    (tmp_path / "run.py").write_text(PROGRAM)
    ran = subprocess.run(
        [sys.executable, "-c", ASKED, tmp_path / "run.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": f"{Path(__file__).parents[2] / 'src'}:{package.parent}"},
        check=True,
    )
    assert ran.stdout.split() == [
        "works",
        "works.deep",
        "works.engines",
        "works.late",
        "works.tools",
    ]
