"""`python -m diagnose.simulation [--gpus N] [--wording new|old] SCRIPT [ARGS...]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import TorchMissingError, run_script


def main(argv: Sequence[str] | None = None) -> int:
    """Run a script on simulated GPUs and return its exit status; 2 for bad usage."""
    parser = argparse.ArgumentParser(
        prog="python -m diagnose.simulation",
        description="Run a PyTorch script on simulated GPUs, with CUDA's device checks.",
    )
    parser.add_argument("--gpus", type=int, default=2, help="how many GPUs it sees (default: 2)")
    parser.add_argument(
        "--wording",
        choices=("new", "old"),
        default="new",
        help="whose sentences: torch 2.8 and later (new, the default), or 1.10 to 2.7 (old)",
    )
    parser.add_argument("script", help="the script to run")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")
    options = parser.parse_args(argv)
    if not Path(options.script).is_file():
        parser.error(f"no such file: {options.script}")
    try:
        return run_script(options.script, options.args, gpus=options.gpus, wording=options.wording)
    except TorchMissingError as error:
        parser.exit(2, f"{error}\n")
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())
