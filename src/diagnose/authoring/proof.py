"""Proves incidents by running them: the failing variant fails as documented and is diagnosed as
documented, the fixed variant runs, and the snippet of the cause tells the two apart.

``prove`` starts child processes; a child is this module run as ``__main__``. It imports once what the
programs take of torch and of other packages, and forks for each run.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from diagnose._toml import loads
from diagnose.authoring.byhand import raised_by_hand
from diagnose.casebase.store import Casebase, load
from diagnose.model import DEVICE_FAMILY
from diagnose.pipeline import diagnose
from diagnose.preload import warm
from diagnose.processes import forked
from diagnose.verification.snippet import snippet

#: Distribution -> import name, where they differ.
_IMPORTS = {"scikit-learn": "sklearn", "pytorch-lightning": "pytorch_lightning"}
#: Seconds that one run may take; ours take less than three.
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of one incident.

    Statuses are exit statuses (None: not run); ``family`` and ``causes`` are what the printed
    traceback is diagnosed as, its own incident left out; ``recognised`` is the first cause with it;
    ``skipped`` says why it was not run. ``printed`` is what the failing variant printed, without this
    machine's paths, ``verdict`` the snippet's last line on it; ``by_hand``: it raises the error's text
    itself.
    """

    incident: str
    cause: str
    failing: int | None = None
    fixed: int | None = None
    expected_family: str = "device-placement"
    family: str | None = None
    causes: tuple[str, ...] = ()
    recognised: str | None = None
    verify_failing: int | None = None
    verify_fixed: int | None = None
    last_line: str = ""
    printed: str = ""
    verdict: str = ""
    silent: bool = False
    by_hand: bool = False
    skipped: str = ""

    @property
    def rank(self) -> int | None:
        """The place of the documented cause in the answer, from 1; None where it is not there."""
        return self.causes.index(self.cause) + 1 if self.cause in self.causes else None

    @property
    def problems(self) -> tuple[str, ...]:
        """What does not hold, in plain sentences."""
        if self.skipped:
            return ()
        found = []
        if self.failing != 1:
            found.append(f"the failing variant ends with status {self.failing}, not 1")
        if self.fixed != 0:
            found.append(f"the fixed variant ends with status {self.fixed}, not 0")
        if not self.silent and self.family != self.expected_family:
            found.append(f"its error is read as {self.family}: {self.last_line}")
        if (
            not self.silent
            and self.expected_family == DEVICE_FAMILY
            and self.recognised != self.cause
        ):
            found.append(
                f"its own traceback is diagnosed as {self.recognised}; "
                f"`diagnose kb record {self.incident}`, and build"
            )
        if self.verify_failing != 1:
            found.append(f"the snippet gives {self.verify_failing} on the failing one")
        if self.verify_fixed != 0:
            found.append(f"the snippet gives {self.verify_fixed} on the fixed one")
        return tuple(found)


def prove(
    kb: Path, slugs: Sequence[str], *, casebase: Path, processes: int | None = None
) -> Generator[Proof, None, None]:
    """Proves incidents on simulated GPUs, in the order in which they finish.

    Args:
        kb: the case base's source.
        slugs: which incidents.
        casebase: the compiled case base to diagnose with.
        processes: how many children; as many as there are processors if None.

    Raises:
        ChildProcessError: a child died; the message holds what it printed.
    """
    count = max(1, min(processes or os.cpu_count() or 1, len(slugs)))
    idle: SimpleQueue[_Child] = SimpleQueue()
    # Left early, the children end first: whoever waits for one of them goes on.
    with ThreadPoolExecutor(count) as pool, contextlib.ExitStack() as ends:
        for _ in range(count):
            child = _Child(kb, casebase)
            ends.callback(child.end)
            idle.put(child)
        asked = [pool.submit(_by_any, idle, slug) for slug in slugs]
        try:
            for done in as_completed(asked):
                yield done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


class _Child:
    """A process that proves the incidents it is asked for, one at a time."""

    def __init__(self, kb: Path, casebase: Path) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `end`)
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(kb)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
            env={
                **os.environ,
                "DIAGNOSE_CASEBASE": str(casebase),
                "HF_HUB_OFFLINE": "1",
                "PYTHONUTF8": "1",
            },
        )

    def prove(self, slug: str) -> Proof:
        """The proof of an incident.

        Raises:
            ChildProcessError: the process died.
        """
        sink, source = self._process.stdin, self._process.stdout
        assert sink is not None and source is not None
        with contextlib.suppress(BrokenPipeError):
            print(slug, file=sink, flush=True)
        line = source.readline()
        if not line:
            self._errors.seek(0)
            printed = self._errors.read().decode(errors="replace").strip()
            raise ChildProcessError(f"proving {slug} stopped: {printed[-2000:]}")
        record = json.loads(line)
        return Proof(**{**record, "causes": tuple(record["causes"])})

    def end(self) -> None:
        """Ends the process, which has nothing to lose."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()


def _by_any(idle: SimpleQueue[_Child], slug: str) -> Proof:
    """The proof of an incident by whichever child has nothing to do."""
    child = idle.get()
    try:
        return child.prove(slug)
    finally:
        idle.put(child)


def _prove_one(kb: Path, slug: str) -> Proof:
    """Runs one incident in forks of this process: what a program sets or patches ends with its run."""
    folder = kb / "cases" / slug
    facts = loads((folder / "case.toml").read_text(encoding="utf-8"))
    proof = Proof(
        slug,
        facts["cause"],
        expected_family=facts.get("family", "device-placement"),
        silent=facts.get("silent", False),
        by_hand=raised_by_hand(facts, (folder / "reproduce.py").read_text("utf-8")) is not None,
    )
    if facts.get("simulated") is False:
        return replace(proof, skipped=facts.get("reason", "cannot run on simulated GPUs"))
    if missing := _missing(facts):
        return replace(proof, skipped=f"needs {', '.join(missing)}")
    script, gpus = str((folder / "reproduce.py").resolve()), int(facts["gpus"])
    if hasattr(os, "fork"):
        warm(Path(script))
    base = load()
    cause = base.causes[proof.cause]
    others = {key: incident for key, incident in base.incidents.items() if key != slug}
    verify_fixed, _ = _verify(snippet(cause, None, None, base), [script, "fixed"], gpus)
    fixed = (
        0 if verify_fixed == 0 else _run([script, "fixed"], gpus)[0]
    )  # what passes has ended well
    failing, printed = _run([script, "failing"], gpus)
    answer = diagnose(printed, casebase=base._replace(incidents=others))
    made = snippet(cause, answer.report, answer.culprit, base)
    verify_failing, verdict = _verify(made, [script, "failing"], gpus)
    error = answer.report.error
    return replace(
        proof,
        failing=failing,
        fixed=fixed,
        family=error.family if error else None,
        causes=tuple(cause.id for cause in answer.causes),
        recognised=_first(printed, folder, base),
        verify_failing=verify_failing,
        verify_fixed=verify_fixed,
        printed=neutral(printed, folder),
        verdict=verdict,
        last_line=(printed.strip().splitlines() or [""])[-1][:300],
    )


def neutral(text: str, folder: Path) -> str:
    """A traceback without this machine's paths: the incident's own folder keeps its name."""
    paths = sysconfig.get_paths()
    library = "/opt/conda/envs/train/lib/python3"
    replacements = {str(folder.resolve()): f"/home/user/{folder.name}"}
    replacements |= {paths[key]: f"{library}/site-packages" for key in ("purelib", "platlib")}
    replacements |= {paths["stdlib"]: library, str(Path(__file__).parents[2]): library}
    return replaced(text, replacements)


def replaced(text: str, replacements: Mapping[str, str]) -> str:
    """The text with each key replaced by its value, longer keys first: a folder before its parent."""
    for found in sorted(replacements, key=len, reverse=True):
        text = text.replace(found, replacements[found])
    return text


def _missing(facts: Mapping[str, Any]) -> list[str]:
    """The libraries that an incident needs and this environment lacks."""
    return [name for name in facts["needs"] if not find_spec(_IMPORTS.get(name, name))]


def _first(printed: str, folder: Path, casebase: Casebase) -> str | None:
    """The first cause of what an incident printed, as anybody's case base names it."""
    causes = diagnose(neutral(printed, folder), casebase=casebase).causes
    return causes[0].id if causes else None


def _verify(program: str, command: Sequence[str], gpus: int) -> tuple[int | None, str]:
    """Exit status of a snippet on a script and its verdict; no status where it says another one."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "verify.py"
        path.write_text(program, encoding="utf-8")
        status, printed = _run([str(path), *command], gpus)
    lines = printed.splitlines()
    verdict = next((line for line in reversed(lines) if line.startswith(("PASS", "FAIL"))), "")
    return (status if verdict[:4] == ("FAIL" if status else "PASS") else None), verdict


def _run(command: Sequence[str], gpus: int) -> tuple[int, str]:
    """Exit status of a script on simulated GPUs and what it printed, from a fork of this process.

    Where there is no fork (Windows) it runs in this process.
    """
    work = partial(_perform, command, gpus)
    if hasattr(os, "fork"):
        ended = forked([work], _LONGEST)[0]
        return ended.status, ended.output
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        status = work()
    return status, printed.getvalue()


def _perform(command: Sequence[str], gpus: int) -> int:
    """Runs a script, with all that it prints on standard output."""
    from diagnose.simulation import run_script

    with contextlib.redirect_stderr(sys.stdout):
        return run_script(command[0], command[1:], gpus=gpus)


def _main(kb: str) -> None:
    """Proves the incidents that standard input names, line by line, and prints each proof as JSON."""
    import torch

    torch.set_num_threads(1)
    for line in iter(sys.stdin.readline, ""):
        print(json.dumps(asdict(_prove_one(Path(kb), line.strip()))), flush=True)


if __name__ == "__main__":
    _main(sys.argv[1])
