"""python server.py: what tests run, a JSON object a line in, one out.

Each is forked from this process, which has imported once what each of them would import and has run no
program; pytest's has.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from diagnose.cli import main as diagnose
from diagnose.commands import verification
from diagnose.preload import warm
from diagnose.processes import import_all
from diagnose.repair.model import Candidate, Limits, Program, Terms
from diagnose.repair.runs.runner import Runner
from diagnose.repair.search import Search
from diagnose.repair.verification.proof import Reference
from diagnose.repair.workspace import Workspace
from diagnose.simulation.__main__ import main as simulate


def command(words: Sequence[str], fails: str = "") -> None:
    """A command of diagnose's, in which a function of `diagnose.repair` fails. The Python that `run --verify`
    starts is forked, too."""
    verification.subprocess = SimpleNamespace(Popen=Forked)  # type: ignore[attr-defined]
    if fails:

        def broken(*_: object) -> None:
            raise IndexError("a secret")

        module, _, name = fails.rpartition(".")
        setattr(importlib.import_module(f"diagnose.repair.{module}"), name, broken)
    diagnose(list(words))


class Forked:
    """A Python that a command starts, by its command line; it has all that this process has imported."""

    def __init__(self, command: Sequence[str]) -> None:
        self._number = os.fork()
        if not self._number:
            os._exit(_status("python", {"words": command[1:]}))

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self._number, 0)[1])


def python(words: Sequence[str]) -> None:
    """What Python does with a command line."""
    is_module = words[0] == "-m"
    sys.argv = list(words[is_module:])
    if is_module:
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(words[0]).parent)
        runpy.run_path(words[0], run_name="__main__")


def simulation(words: Sequence[str]) -> None:
    """What `python -m diagnose.simulation` does."""
    sys.exit(simulate(words))


def proof(edited: str, line: int, kind: str, cause: str, stopgap: bool) -> None:
    """What is known of train.py with another text: ``level`` and ``guards``."""
    texts, edit = (
        {"train.py": edited},
        Candidate(cause, "", kind, "", "train.py", line, "", stopgap),
    )
    with tempfile.TemporaryDirectory() as home:
        runner = _runner(home)
        ran = runner.run(texts, Terms(2))
        assert ran.passed, ran.errors
        found = Reference(runner, 2).prove(texts, ran, [edit])
    guards = {guard.id: guard.holds for guard in found.guards}
    print(json.dumps({"level": found.level, "guards": guards}))


def search(patch: str, line: int) -> None:
    """The diff of a repair of train.py that tries a patch first."""
    first = Candidate(
        "created-without-device", "", "move-tensor-at-line", "", "train.py", line, patch
    )
    with tempfile.TemporaryDirectory() as home:
        print(Search(_runner(home), 2, Limits(), alternatives=True).repair([first]).diff)


#: Fails of a placement, and is repaired.
FAILS = "import torch\nx = torch.ones(2)\nprint((torch.ones(2, device='cuda') + x).sum())\n"


def imported() -> None:
    """What a repair imports of torch and of diagnose, to a file of this name."""
    Path("train.py").write_text(FAILS)
    with contextlib.suppress(SystemExit):
        diagnose(["fix", "train.py"])
    names = [name for name in sys.modules if name.startswith(("torch.", "diagnose."))]
    Path("imported").write_text("\n".join(names))


def _runner(home: str) -> Runner:
    folder = Path.cwd()
    warm(folder / "train.py")
    return Runner(Program(folder, folder, "train.py"), Workspace(folder, Path(home)), 60)


WORKS = {work.__name__: work for work in (command, python, simulation, proof, search, imported)}


def ended(
    folder: Path, work: str, given: Mapping[str, Any], variables: Mapping[str, str]
) -> dict[str, Any]:
    """The exit status of a work in a folder, and what it prints."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if not child:
            for stream, kept in ((output, 1), (errors, 2)):
                os.dup2(stream.fileno(), kept)
            os.chdir(folder)
            os.environ.update(variables)
            tempfile.tempdir = None  # is asked for anew
            os._exit(_status(work, given))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        printed = []
        for stream in (output, errors):
            stream.seek(0)
            printed.append(stream.read().decode())
    return {"status": status, "output": printed[0], "errors": printed[1]}


def _status(work: str, given: Mapping[str, Any]) -> int:
    """The exit status of a work in this process."""
    try:
        WORKS[work](**given)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def main() -> None:
    sys.path[0] = ""  # as for `python -m`
    warm(Path(__file__))
    import_all(["torch._dynamo"])  # as a program's optimizer would, in each run
    with tempfile.TemporaryDirectory() as folder:
        ended(Path(folder), "imported", {}, {})
        import_all(Path(folder, "imported").read_text().split())
    gc.freeze()  # what was imported is nobody's garbage
    for row in sys.stdin:
        print(json.dumps(ended(**json.loads(row))), flush=True)


if __name__ == "__main__":
    main()
