"""`python -m diagnose.hooks SCRIPT [ARGS...]`: for launchers that start a module.

torchrun --nproc-per-node 2 -m diagnose.hooks train.py --epochs 3
"""

from diagnose.hooks.command import run_command

run_command(prog_name="python -m diagnose.hooks")
