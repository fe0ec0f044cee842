"""The programs are what they are said to be: run on simulated GPUs, they fail, are mended, or are right."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import forked
import pytest

HERE = Path(__file__).parent
#: Those that need several processes, or a package that the tests do not, cannot be run.
_OTHERS = (
    "init_process_group",
    "fsdp",
    "import mydata",
    "import pandas",
    "import matplotlib",
    "from scipy",
    "from sklearn",
    "from torchvision",
    "from datasets",
    "from diffusers",
    "from transformers",
    "from torch_geometric",
    "from sentence_transformers",
    "import lightning",
    "bitsandbytes",
    "from flash_attn",
    "import xformers",
    "from mamba_ssm",
    "from causal_conv1d",
)
#: `nn.Module.to(tensor)` does not move a module on simulated GPUs.
_NOT_SIMULATED = {"lazy_on_the_right_device.py"}
#: A library's file, which runs nothing.
_LIBRARIES = {"created-without-device/library_module", "unregistered-tensor/library_module",
              "unregistered-submodule/experts_library"}  # fmt: skip


def runnable(glob: str) -> list[Path]:
    return sorted(
        path
        for path in HERE.glob(glob)
        if not any(one in path.read_text() for one in _OTHERS) and path.name not in _NOT_SIMULATED
    )


def ending_well(programs: Iterable[Path], folder: Path) -> set[Path]:
    run = subprocess.run(
        [forked.python(), HERE / "simulated.py", *programs],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=600,
        check=True,
    )
    return {Path(line) for line in run.stdout.splitlines()}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_each_program_does_what_its_folder_says(tmp_path: Path) -> None:
    failing = [
        path
        for path in runnable("rules/*/*.in.py")
        if f"{path.parent.name}/{path.name.removesuffix('.in.py')}" not in _LIBRARIES
    ]
    right = [*runnable("rules/*/*.out.py"), *runnable("healthy/*.py")]
    well = ending_well([*failing, *right], tmp_path)
    assert sorted(well & set(failing)) == []
    assert sorted(set(right) - well) == []
