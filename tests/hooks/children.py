"""Child processes for the hook's tests: the same program with the hook and without."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import diagnose

SOURCE = Path(diagnose.__file__).parents[1]
#: What installs the hook in a program, so that the same text can run without it.
PREAMBLE = """\
import os
if os.environ.get("HOOKED"):
    import diagnose; diagnose.install(seconds=60)
"""
#: A device failure that needs no torch.
MESSAGE = (
    "Expected all tensors to be on the same device, but found at least two devices, "
    "cuda:0 and cpu! (when checking argument for argument mat1 in method wrapper_CUDA_addmm)"
)
FAILS = f"raise RuntimeError({MESSAGE!r})\n"
#: Stands in every answer, in no traceback.
SIGN = "More     "


@dataclass(frozen=True, slots=True)
class End:
    """How a child ended."""

    status: int
    out: str
    err: str


def environment(**more: str) -> dict[str, str]:
    """The environment of a child that can import diagnose but has no hook."""
    kept = {k: v for k, v in os.environ.items() if k not in {"HOOKED", "DIAGNOSE_HOOK"}}
    return {**kept, "PYTHONPATH": str(SOURCE), **more}


def python(*arguments: str | Path, by: str = sys.executable, **more: str) -> End:
    """Run a Python."""
    done = subprocess.run(
        [by, *map(str, arguments)],
        env=environment(**more),
        capture_output=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        preexec_fn=_default_interrupt,
    )
    return End(done.returncode, done.stdout.decode(), done.stderr.decode())


def both(script: Path, program: str, *launcher: str, by: str = sys.executable) -> tuple[End, End]:
    """A program without the hook and with it."""
    script.write_text(PREAMBLE + program, encoding="utf-8")
    return python(*launcher, script, by=by), python(*launcher, script, by=by, HOOKED="1")


def answer_after(plain: End, hooked: End) -> str:
    """What the hook added, after all that was there without it."""
    assert hooked.status == plain.status
    assert hooked.out == plain.out
    assert hooked.err.startswith(plain.err)
    return hooked.err[len(plain.err) :]


def _default_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
