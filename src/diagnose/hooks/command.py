"""A program with the hook in place, otherwise as ``python SCRIPT`` would run it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

#: Holds the sitecustomize module that installs the hook in a starting interpreter.
_STARTUP = Path(__file__).parent / "startup"


def run(
    program: Sequence[str],
    *,
    launcher: str | None = None,
    lang: str | None = None,
    trace: bool = False,
) -> NoReturn:
    """Become a Python that runs `program` with the hook installed; does not return.

    Args:
        program: what stands after `python` on a command line: script or `-m`, module, arguments.
        launcher: path of a program that is run in place of Python, and starts Pythons itself (torchrun).
        lang: language of the answer; the environment's DIAGNOSE_LANG if None.
        trace: whether to record where tensors are created and moved (docs/tracing.md).
    """
    # The name that this Python was called by, and no path: a program sees it in sys.orig_argv.
    python = [sys.orig_argv[0], *_interpreter_options(sys.orig_argv)]
    command = [*([launcher] if launcher else python), *program]
    executable = launcher or sys.executable
    environment = environment_with_hook(os.environ.copy(), lang)
    if trace:
        environment["DIAGNOSE_TRACE"] = "1"
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":  # there, exec starts another process and lets the shell go on at once
        sys.exit(subprocess.call(command, executable=executable, env=environment))
    os.execve(executable, command, environment)


def environment_with_hook(environment: dict[str, str], lang: str | None) -> dict[str, str]:
    """The environment in which each starting Python installs the hook (not with DIAGNOSE_HOOK=0)."""
    paths = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    if str(_STARTUP) not in paths:
        paths.insert(0, str(_STARTUP))
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    if lang is not None:
        environment["DIAGNOSE_LANG"] = lang
    return environment


def _interpreter_options(argv: Sequence[str]) -> list[str]:
    """The options of the running Python itself (-u, -X dev, -W error ...), to be handed on."""
    options: list[str] = []
    rest = iter(argv[1:])
    for argument in rest:
        if not argument.startswith("-") or argument == "-" or argument[:2] in ("-m", "-c"):
            break
        options.append(argument)
        if argument in ("-X", "-W", "--check-hash-based-pycs"):
            options.append(next(rest, ""))
    return options
