"""Runs verification programs on simulated GPUs, many in one process, as importing torch is slow.

Reads from stdin a JSON list of runs {"program", "args", "gpus", "env"}; prints for each {"status",
"lines", "leftovers"}: the exit status, what it printed, and hooks that it left in torch.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys

import torch
from torch.nn.modules import module
from torch.optim import optimizer

from diagnose.simulation import run_script

LOAD = torch.load
HOOKS = (
    module._global_forward_hooks,
    module._global_forward_pre_hooks,
    optimizer._global_optimizer_pre_hooks,
    optimizer._global_optimizer_post_hooks,
)


def main() -> None:
    results = []
    for run in json.load(sys.stdin):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = run_script(run["program"], run["args"], gpus=run["gpus"], env=run["env"])
            if torch.distributed.is_initialized():  # a program of its own process ends with that
                torch.distributed.destroy_process_group()
        leftovers = sum(len(hooks) for hooks in HOOKS) + (torch.load is not LOAD)
        results.append(
            {
                "status": status,
                "lines": printed.getvalue().splitlines(),
                "leftovers": leftovers,
            }
        )
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
