"""What two versions of diagnose find in the same folders, and where they differ.

    python benchmarks/check_versions.py OLD NEW FOLDER... [--options="--preview"]

OLD and NEW are folders to put on PYTHONPATH (a checkout's src, its case base built) or revisions of this
repository, which are checked out into a temporary folder and built there. Findings are the same where their
rule, file, function and line are (their fingerprints), whatever the number of the line. Exit status 1 where
they differ.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
Findings = dict[str, dict[str, Any]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--options", default="", help="of diagnose check, for both versions")
    args = parser.parse_args()
    options = shlex.split(args.options)
    differ = False
    with source_of(args.old) as old, source_of(args.new) as new:
        for folder in args.folders:
            (one, judged), (other, also) = (findings(src, folder, options) for src in (old, new))
            gone, come = one.keys() - other.keys(), other.keys() - one.keys()
            differ = differ or bool(gone or come)
            print(f"{folder}: {len(one)} -> {len(other)} findings, judged {judged} -> {also}")
            for sign, keys, found in (("-", gone, one), ("+", come, other)):
                for place in sorted(told(found[key]) for key in keys):
                    print(f"  {sign} {place}")
    return int(differ)


def told(finding: dict[str, Any]) -> str:
    code = " ".join(finding["code"].split())
    return f"{finding['file']}:{finding['line']} {finding['id']} {ascii(code)[1:-1][:120]}"


def findings(source: Path, folder: Path, options: Sequence[str]) -> tuple[Findings, str]:
    """The findings of a version by fingerprint, and how many operations it judged, of how many."""
    run = subprocess.run(
        [sys.executable, "-m", "diagnose", "check", "--format", "json", *options, "."],
        cwd=folder,
        # A package's own collections.py or random.py is not to stand for the standard library's.
        env={**os.environ, "PYTHONPATH": str(source.resolve()), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if not run.stdout:
        sys.exit(f"{source} on {folder}: {run.stderr}")
    document = json.loads(run.stdout)
    for sentence in document["faults"]:
        print(f"  {source}: {sentence}")
    known, unknown = document["judged"], document["unknown"]
    return {one["fingerprint"]: one for one in document["findings"]}, f"{known}/{known + unknown}"


@contextlib.contextmanager
def source_of(version: str) -> Iterator[Path]:
    """The folder itself, or that of a revision, with its case base built."""
    if (Path(version) / "diagnose").is_dir():
        yield Path(version)
        return
    with tempfile.TemporaryDirectory() as folder:
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", folder, version], check=True)
        try:
            source = Path(folder, "src")
            subprocess.run(
                [sys.executable, "-m", "diagnose", "kb", "build"],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(source)},
                check=True,
                stdout=subprocess.DEVNULL,
            )
            yield source
        finally:
            subprocess.run([*git, "remove", "--force", folder], check=True)


if __name__ == "__main__":
    sys.exit(main())
