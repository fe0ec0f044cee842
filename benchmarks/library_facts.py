"""Runs the programs of tests/placement/libraries.toml on simulated GPUs: whether they show what it records.

    python benchmarks/library_facts.py [--only WORDS] [-v]

Needs torch and the libraries (transformers, accelerate, peft, diffusers, sentence-transformers, lightning,
torchmetrics, torch_geometric, timm, torchvision, datasets, monai, gpytorch, adapters); downloads nothing:
benchmarks/library_models.py makes the small models that the programs load. Recorded with torch 2.13,
transformers 4.57.6, accelerate 1.15, peft 0.21, diffusers 0.39, sentence-transformers 5.7, lightning 2.6,
torchmetrics 1.9, torch_geometric 2.8, timm 1.0.31, monai 1.6, gpytorch 1.15, adapters 1.3.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

from forked import wait

from diagnose import _toml
from diagnose.simulation import simulated_gpus

ROOT = Path(__file__).resolve().parent
FACTS = ROOT.parent / "tests" / "placement" / "libraries.toml"
#: Programs of a library whose modules ask for GPUs while they are imported: no process is forked from one
#: that has imported it.
_COLD = frozenset({"diffusers"})
_SECONDS = 200.0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="facts whose library and name contain this")
    parser.add_argument("-v", "--verbose", action="store_true", help="tell each that is not so")
    options = parser.parse_args()
    os.environ.update({"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"})
    recorded = _toml.loads(FACTS.read_text(encoding="utf-8"))
    counts, warm = Counter[str](), set[str]()
    with tempfile.TemporaryDirectory() as models:
        subprocess.run(
            [sys.executable, str(ROOT / "library_models.py")],
            cwd=models,
            check=True,
            capture_output=True,
        )
        for fact in recorded["fact"]:
            name, head = f"{fact['library']}: {fact['name']}", recorded["heads"][fact["library"]]
            if options.only not in name:
                continue
            if fact["library"] not in warm | _COLD:
                warm.add(fact["library"])
                exec(head, {"__name__": "imported"})
            told = shown(head + fact["program"], models)
            counts["so" if told == fact["it"] else "not so"] += 1
            if options.verbose and told != fact["it"]:
                print(f"{name}: {fact['it']} recorded, {told} shown", flush=True)
    print(", ".join(f"{number} {what}" for what, number in counts.items()))
    return 1 if counts["not so"] else 0


def shown(program: str, models: str) -> str:
    """Where `it` is in the end; `fails` where the program ends in the line that is marked so."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(models, folder, dirs_exist_ok=True)
        answer = Path(folder, "answer.json")
        child = os.fork()
        if child == 0:
            _run(program, folder, answer)
        if wait(child, _SECONDS) != 0 or not answer.exists():
            return "no answer"
        return str(json.loads(answer.read_text(encoding="utf-8")))


def _run(program: str, folder: str, answer: Path) -> None:
    """Runs a program in this process, and ends it."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.chdir(folder)
    names: dict[str, object] = {"__name__": "__main__"}
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    try:
        with simulated_gpus(2):
            exec(compile(program, "program.py", "exec"), names)
            told = str(getattr(names["it"], "device", "no tensor"))
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [one.lineno for one in frames if one.filename == "program.py"]
        marked = lines and program.split("\n")[(lines[-1] or 1) - 1].endswith("# fails")
        told = "fails" if marked else f"{type(error).__name__}: {error}"[:200]
    with contextlib.suppress(OSError):
        answer.write_text(json.dumps(told), encoding="utf-8")
    os._exit(0)


if __name__ == "__main__":
    raise SystemExit(main())
