"""Records what each documented incident prints: ``python tests/traces/record.py [SLUG...]``.

Runs ``kb/cases/<slug>/reproduce.py failing`` on simulated GPUs, with the sentences of the torch
versions that the incidents were reported on, and writes the output to ``<slug>.txt`` beside this
file, with neutral paths. Also renews the table of versions in README.md.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path
from typing import Any

from diagnose._toml import loads
from diagnose.authoring.proof import replaced

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "kb" / "cases"
HERE = Path(__file__).resolve().parent

PROJECT = "/home/user/project"
STDLIB = "/opt/conda/envs/train/lib/python3.11"
TABLE = re.compile(r"(?<=<!-- recorded -->\n).*?(?=<!-- end -->)", re.DOTALL)


def slugs() -> list[str]:
    """The documented incidents, by the names of their folders."""
    return sorted(path.parent.name for path in CASES.glob("*/case.toml"))


def recorded() -> list[str]:
    """The incidents whose traces are kept here."""
    return sorted(path.stem for path in HERE.glob("*.txt"))


def case(slug: str) -> dict[str, Any]:
    """The facts of one incident."""
    return loads((CASES / slug / "case.toml").read_text(encoding="utf-8"))


def run(slug: str, variant: str) -> subprocess.CompletedProcess[str]:
    """Runs a reproduction on as many simulated GPUs as it needs; stderr goes where stdout goes."""
    gpus = str(case(slug)["gpus"])
    simulate = ["-m", "diagnose.simulation", "--gpus", gpus, "--wording", "old"]
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, *simulate, str(CASES / slug / "reproduce.py"), variant],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "HF_HUB_OFFLINE": "1"},
        timeout=120,
        check=False,
    )


def neutral(text: str) -> str:
    """The text with this machine's paths replaced by those of nobody's machine."""
    paths = sysconfig.get_paths()
    replacements = {str(folder): PROJECT for folder in CASES.iterdir()}
    replacements |= {paths[key]: f"{STDLIB}/site-packages" for key in ("purelib", "platlib")}
    replacements |= {paths["stdlib"]: STDLIB, str(ROOT): PROJECT}
    return replaced(text, replacements)


def table() -> str:
    """README.md's rows: trace, command, versions of the libraries that the reproduction uses."""
    rows = ["| trace | command | recorded with |\n", "| --- | --- | --- |\n"]
    for slug in recorded():
        facts = case(slug)
        command = (
            f"python -m diagnose.simulation --gpus {facts['gpus']} --wording old "
            f"kb/cases/{slug}/reproduce.py failing"
        )
        needs = ", ".join(f"{name} {version(name).partition('+')[0]}" for name in facts["needs"])
        rows.append(f"| `{slug}.txt` | `{command}` | {needs} |\n")
    return "".join(rows)


def main(wanted: list[str]) -> None:
    for slug in wanted or recorded():
        result = run(slug, "failing")
        if result.returncode != 1:
            sys.exit(f"{slug}: status {result.returncode}, expected 1\n{result.stdout}")
        (HERE / f"{slug}.txt").write_text(neutral(result.stdout), encoding="utf-8")
        print(f"{slug}: {result.stdout.strip().splitlines()[-1]}")
    readme = HERE / "README.md"
    text = readme.read_text(encoding="utf-8")
    readme.write_text(TABLE.sub(lambda _: table(), text), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
