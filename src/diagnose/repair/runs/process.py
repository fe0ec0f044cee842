"""What happens in the process of a run: the program runs, watched, and what was seen is written down."""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

from diagnose.bulkhead import collecting, guarded
from diagnose.model import Lang
from diagnose.repair.model import Program, Terms, Wanted
from diagnose.repair.observers.observer import Observer
from diagnose.repair.runs.check_stubs import claiming
from diagnose.repair.runs.children import Children
from diagnose.repair.runs.failures import failure
from diagnose.repair.runs.gpu_offsets import raised
from diagnose.repair.runs.write_protection import protect
from diagnose.repair.synthesis.candidates import candidates
from diagnose.repair.workspace import Workspace
from diagnose.simulation import Terms as Machine
from diagnose.simulation import run_script

#: What one run imports of these, the next will.
_SHARED = ("torch.", "diagnose.")


def perform(
    program: Program,
    workspace: Workspace,
    folder: Path,
    terms: Terms,
    writable: Sequence[Path],
    lang: Lang,
    wanted: Wanted,
    result: Path,
    environment: Mapping[str, str],
) -> int:
    """Runs a program in a copied folder and writes what was seen to ``result``; its exit status."""
    os.environ.update(environment)
    calls: Counter[str] = Counter()
    told: dict[str, Any] = {"status": 1, "candidates": [], "missing": []}
    told |= dict.fromkeys(("failure", "failed_at", "answer"))
    observer = Observer(folder, calls, terms)

    def proposed(error: BaseException) -> dict[str, Any]:
        # A fault of ours costs the answer's edits, and not what is known of the run.
        look = partial(candidates, error, workspace, lang)
        with collecting() as missing:
            found, answer = guarded("candidates", look, ([], None))
        faults = [f"{one.what}: {one.fault}" for one in missing]
        return {"candidates": found, "answer": answer, "missing": faults}

    def failed(error: BaseException) -> None:
        observer.over()
        told["failed_at"] = time.time()
        workspace.restore()  # lines are told by the text that ran
        told["failure"] = failure(error, workspace)
        if told["failure"].placement and wanted.of(told["failure"], calls):
            told.update(children.told(error) or proposed(error))

    children = Children(folder, proposed if wanted.proposing else lambda error: {})

    os.chdir(folder / program.folder.relative_to(program.origin))
    protect((folder.parent, workspace.compiled, *writable), workspace.origin)
    _place_temporary_files(folder.with_name(".tmp"), workspace.compiled)
    _seed()
    told["status"] = run_script(
        program.script,
        [raised(arg, terms.current) for arg in program.args],
        gpus=terms.gpus,
        terms=Machine(
            terms.checked, one_stream=True, calls=calls, drawn=terms.drawn, wrapped=terms.wrapped
        ),
        beside=partial(_beside, observer, children, terms),
        failed=failed,
        module=program.module,
    )
    told |= observer.seen()
    told["imported"] = [name for name in sys.modules if name.startswith(_SHARED)]
    result.write_text(json.dumps(told, default=list))
    return int(told["status"])


@contextmanager
def _beside(observer: Observer, children: Children, terms: Terms) -> Iterator[None]:
    import torch

    if terms.current:
        torch.cuda.set_device(terms.current)
    claimed = claiming() if terms.claimed else nullcontext()
    with observer.watching(), children.watching(), claimed:
        yield


def _place_temporary_files(scratch: Path, compiled: Path) -> None:
    """Temporary files go with the program's copy, whoever leaves them; what torch compiles stays for the
    next run."""
    scratch.mkdir(exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(compiled))


def _seed() -> None:
    """Two runs of one program draw the same random numbers."""
    import torch

    random.seed(0)
    with suppress(ImportError):
        import numpy

        numpy.random.seed(0)
    torch.manual_seed(0)
