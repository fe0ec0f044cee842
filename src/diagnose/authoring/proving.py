"""Proves incidents by running them: the failing variant fails as documented and is diagnosed as
documented, the fixed variant runs, and the verification program tells the two apart.

``prove`` starts child processes, each of which imports torch once and proves many incidents; a child
is this module run as ``__main__``.
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
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from diagnose._toml import loads
from diagnose.casebase.store import Casebase, load
from diagnose.model import DEVICE_FAMILY
from diagnose.pipeline import diagnose
from diagnose.verification.snippet import snippet

#: Distribution -> import name, where they differ.
_IMPORTS = {"scikit-learn": "sklearn", "pytorch-lightning": "pytorch_lightning"}


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of one incident.

    Statuses are exit statuses (None: not run); ``family`` and ``causes`` are what the printed
    traceback is diagnosed as, its own incident left out; ``recognised`` is the first cause with it;
    ``skipped`` says why it was not run. ``printed`` is what the failing variant printed, without this
    machine's paths.
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
    silent: bool = False
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
                f"`diagnose cases record {self.incident}`, and build"
            )
        if not self.silent and self.verify_failing != 1:
            found.append(f"the verification program gives {self.verify_failing} on the failing one")
        if self.verify_fixed != 0:
            found.append(f"the verification program gives {self.verify_fixed} on the fixed one")
        return tuple(found)


def prove(
    kb: Path, slugs: Sequence[str], *, casebase: Path, processes: int | None = None
) -> Iterator[Proof]:
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
    children = [
        subprocess.Popen(
            [sys.executable, "-m", __name__, str(kb), *slugs[start::count]],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "DIAGNOSE_CASEBASE": str(casebase), "HF_HUB_OFFLINE": "1"},
        )
        for start in range(count)
    ]
    for child in children:
        assert child.stdout is not None
        for line in child.stdout:
            record = json.loads(line)
            yield Proof(**{**record, "causes": tuple(record["causes"])})
        _, printed = child.communicate()
        if child.returncode:
            raise ChildProcessError(f"proving stopped: {printed.strip()[-2000:]}")


def _prove_one(kb: Path, slug: str) -> Proof:
    """Runs one incident in this process."""
    folder = kb / "cases" / slug
    facts = loads((folder / "case.toml").read_text(encoding="utf-8"))
    proof = Proof(
        slug,
        facts["cause"],
        expected_family=facts.get("family", "device-placement"),
        silent=facts.get("silent", False),
    )
    if facts.get("simulated") is False:
        return replace(proof, skipped=facts.get("reason", "cannot run on simulated GPUs"))
    if missing := _missing(facts):
        return replace(proof, skipped=f"needs {', '.join(missing)}")
    script, gpus = str((folder / "reproduce.py").resolve()), int(facts["gpus"])
    base = load()
    cause = base.causes[proof.cause]
    others = {key: incident for key, incident in base.incidents.items() if key != slug}
    # The fixed variant goes first: a failing one may put an old mistake back into a library.
    fixed, _ = _run([script, "fixed"], gpus)
    verify_fixed = _verify(snippet(cause, None, None, base), [script, "fixed"], gpus)
    failing, printed = _run([script, "failing"], gpus)
    answer = diagnose(printed, casebase=base._replace(incidents=others))
    program = snippet(cause, answer.report, answer.culprit, base)
    verify_failing = _verify(program, [script, "failing"], gpus)
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


def _verify(program: str, command: Sequence[str], gpus: int) -> int:
    """Exit status of a verification program on a script."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "verify.py"
        path.write_text(program, encoding="utf-8")
        return _run([str(path), "--gpus", str(gpus), *command], gpus)[0]


def _run(command: Sequence[str], gpus: int) -> tuple[int, str]:
    """Exit status of a script on simulated GPUs and what it printed."""
    from diagnose.simulation import run_script

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        status = run_script(command[0], command[1:], gpus=gpus)
    return status, printed.getvalue()


def _main(kb: str, *slugs: str) -> None:
    """Proves incidents one after the other, each in a fork of this process, and prints JSON lines."""
    import torch

    torch.set_num_threads(1)
    for slug in slugs:
        print(_apart(Path(kb), slug), flush=True)


def _apart(kb: Path, slug: str) -> str:
    """The proof as JSON, made in a fork: what a program sets or patches ends with it.

    Where there is no fork (Windows) it is made in this process.
    """
    if not hasattr(os, "fork"):
        return json.dumps(asdict(_prove_one(kb, slug)))
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(source)
            with os.fdopen(sink, "w", encoding="utf-8") as out:
                out.write(json.dumps(asdict(_prove_one(kb, slug))))
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(sink)
    with os.fdopen(source, encoding="utf-8") as inp:
        printed = inp.read()
    if os.waitpid(child, 0)[1] or not printed:
        raise ChildProcessError(f"{slug}: its process died")
    return printed


if __name__ == "__main__":
    _main(*sys.argv[1:])
