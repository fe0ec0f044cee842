"""Plants mistakes of placement in programs that work, runs both halves and labels the failing one.

    python training/generator/make.py OUT [--hosts N] [--seed S] [--each K] [--packages torch,timm]

For each pair OUT holds NAME.py (fails), NAME.fixed.py (runs), NAME.txt (the traceback) and NAME.json (the
label, docs/evaluating.md), and OUT/summary/summary.json tells what was tried. A pair is kept where the
healthy half ends with status 0 and the broken one in an error that speaks of devices. Models come from the
packages that are installed. Same seed, same packages: same programs. Keep OUT out of the repository.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from random import Random

# The folder of this file would hide modules of the same names from the programs.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parents[1]))

from generator.forms import FORMS, formed
from generator.hosts import hosts
from generator.labels import is_about_devices, label, tells_of_us
from generator.libraries import LIBRARY_BUG, bugs, mistake_of, planted
from generator.mistakes import mistakes
from generator.model import Host, Mistake
from generator.notes import bare
from generator.pieces import SOURCES
from generator.running import Wording, run

#: One pair of so many has its bug in a library, of which so many lines are tried.
_LIBRARY_BUG_EACH, _BUGS_TRIED = 25, 4


class Making:
    """One run: what was made so far, and what became of the rest."""

    def __init__(self, folder: Path, seed: int, each: int) -> None:
        self._folder = folder
        self._each = each
        self._rng = Random(seed)
        self._causes: Counter[str] = Counter()
        self._told: Counter[str] = Counter()
        self._seen: dict[str, set[str]] = {
            "hosts": set(),
            "packages": set(),
            "models": set(),
            "styles": set(),
        }

    def make(self, wanted: int, seconds: float, packages: Collection[str]) -> None:
        """Pairs of so many hosts, or as many as the time allows."""
        end = time.monotonic() + seconds
        for host in hosts(self._rng, self._causes, packages):
            if len(self._seen["hosts"]) >= wanted or time.monotonic() > end:
                break
            self._of(host)
        self._summary()

    def _of(self, host: Host) -> None:
        """A few pairs of one host, of its rarest causes."""
        self._told["hosts tried"] += 1
        found = list(mistakes(host.text))
        self._rng.shuffle(found)
        wording = self._rng.choice(("new", "new", "old"))
        healthy = bare(host.text)
        if not found:
            return
        if (ran := run(healthy, host.name, host.gpus, wording, host.args, host.env)).status:
            self._told["healthy half fails"] += 1
            self._keep_aside(host, healthy, ran.err)
            return
        kept = int(self._of_library(host, healthy, wording))
        causes = set[str]()
        for mistake in sorted(found, key=lambda one: self._causes[one.cause]):
            if kept >= self._each:
                break
            if mistake.cause not in causes and self._pair(host, mistake, healthy, wording):
                kept += 1
                causes.add(mistake.cause)

    def _of_library(self, host: Host, healthy: str, wording: Wording) -> bool:
        """Whether a pair was kept in which the program is right and its library is not; not too many."""
        seldom = self._causes[LIBRARY_BUG] * _LIBRARY_BUG_EACH <= self._causes.total()
        if not seldom or host.piece is None or host.package == "torch":
            return False
        found = list(bugs(host.piece))
        for bug in self._rng.sample(found, min(len(found), _BUGS_TRIED)):
            with planted(bug):
                if self._pair(host, mistake_of(bug, healthy), healthy, wording):
                    return True
        return False

    def _pair(self, host: Host, mistake: Mistake, healthy: str, wording: Wording) -> bool:
        """Whether a pair was kept."""
        name = f"{host.name}-{mistake.cause}".replace("_", "-")
        broken = run(mistake.text, name, host.gpus, wording, host.args, host.env)
        self._told["mistakes tried"] += 1
        if broken.status == 0:
            self._told[f"runs all the same: {mistake.cause}"] += 1
            return False
        if not is_about_devices(broken.err) or tells_of_us(broken.err):
            self._told[f"another error: {mistake.cause}"] += 1
            self._keep_aside(host, mistake.text, broken.err)
            return False
        form = self._rng.choice(FORMS)
        text = formed(broken.err, form)
        path = self._folder / name
        Path(f"{path}.py").write_text(mistake.text, encoding="utf-8")
        Path(f"{path}.fixed.py").write_text(healthy, encoding="utf-8")
        Path(f"{path}.txt").write_text(text, encoding="utf-8")
        told = label(host, mistake, name, broken.err, wording, form)
        Path(f"{path}.json").write_text(json.dumps(told, indent=1), encoding="utf-8")
        self._causes[mistake.cause] += 1
        self._seen["hosts"].add(host.name)
        self._seen["styles"].add(host.style)
        if host.piece is not None:
            self._seen["packages"].add(host.package)
            self._seen["models"].add(f"{host.package}: {host.family}")
        print(name, flush=True)
        return True

    def _keep_aside(self, host: Host, text: str, err: str) -> None:
        """What went wrong otherwise, for whoever mends the generator."""
        aside = self._folder / "aside"
        aside.mkdir(exist_ok=True)
        (aside / f"{host.name}.py").write_text(f"{text}\n'''\n{err}'''\n", encoding="utf-8")

    def _summary(self) -> None:
        summary = {
            "pairs": sum(self._causes.values()),
            **{key: len(values) for key, values in self._seen.items()},
            "causes": dict(self._causes.most_common()),
            "told": dict(self._told.most_common()),
        }
        folder = self._folder / "summary"
        folder.mkdir(exist_ok=True)
        (folder / "summary.json").write_text(json.dumps(summary, indent=1), encoding="utf-8")
        print(json.dumps(summary, indent=1))


def main(argv: Sequence[str] | None = None) -> int:
    """Make the pairs and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--hosts", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=2, help="pairs a host, at most")
    parser.add_argument("--minutes", type=float, default=600, help="stop after so many")
    parser.add_argument(
        "--packages", default=",".join((*SOURCES, "incidents")), help="where models come from"
    )
    options = parser.parse_args(argv)
    options.out.mkdir(parents=True, exist_ok=True)
    os.environ.update({"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"})
    import torch

    torch.set_num_threads(1)
    making = Making(options.out, options.seed, options.each)
    making.make(options.hosts, options.minutes * 60, options.packages.split(","))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
