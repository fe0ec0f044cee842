"""What is imported once for all runs of a program: all that it imports of installed packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import forked
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
from diagnose.preload import warm
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
        [forked.python(), "-c", ASKED, tmp_path / "run.py"],
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


#: A package that asks at once whether there is a GPU, one that uses it if it is there, and one that does not.
ASKS = (
    "import torch\nfrom asks import deep\nPLACE = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
)
USES = "try:\n    import asks\nexcept ImportError:\n    asks = None\n"
LEFT = """\
import sys
from pathlib import Path
from diagnose.preload import warm
warm(Path(sys.argv[1]))
names = {"asks", "asks.deep", "uses", "plain"}
print(*sorted(names & sys.modules.keys()))
import uses
print(uses.asks.PLACE, uses.asks.deep.__name__)
"""


def test_what_asks_for_gpus_while_it_is_imported_is_left_to_each_run(tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    (packages / "asks").mkdir(parents=True)
    (packages / "asks" / "__init__.py").write_text(ASKS)
    (packages / "asks" / "deep.py").write_text("")
    (packages / "uses.py").write_text(USES)
    (packages / "plain.py").write_text(
        "import torch\ndef later():\n    torch.cuda.is_available()\n"
    )
    (tmp_path / "run.py").write_text("import uses\nimport plain\nimport asks\n")
    ran = subprocess.run(
        [forked.python(), "-c", LEFT, tmp_path / "run.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": f"{Path(__file__).parents[2] / 'src'}:{packages}"},
        check=True,
    )
    assert ran.stdout.split("\n")[:2] == ["plain", "cpu asks.deep"]


def test_a_package_that_ends_whoever_imports_it_ends_no_search(tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "ends.py").write_text("import sys\nsys.exit('no licence')\n")
    (tmp_path / "run.py").write_text("import ends\n")
    ran = subprocess.run(
        [forked.python(), "-c", ASKED, tmp_path / "run.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": f"{Path(__file__).parents[2] / 'src'}:{packages}"},
    )
    assert (ran.returncode, ran.stdout.split()) == (0, [])


def test_what_torch_imports_for_an_optimizer_is_imported_once(tmp_path: Path) -> None:
    found = []
    for text in ("", "from torch.optim import SGD\n"):
        (tmp_path / "run.py").write_text(text)
        asked = [*ASKED.splitlines()[:-1], "print('torch._dynamo' in sys.modules)"]
        ran = subprocess.run(
            [sys.executable, "-c", "\n".join(asked), tmp_path / "run.py"],
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(ran.stdout.strip())
    assert found == ["False", "True"]
