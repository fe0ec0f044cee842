"""python commands.py: `diagnose fix` as it runs for the tests, a JSON object a line in, one out.

Each command is forked from this process, which has imported once what each of them would import.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from diagnose.cli import main as diagnose
from diagnose.processes import import_all
from diagnose.repair.runs.preload import warm


def command(folder: Path, words: list[str]) -> dict[str, Any]:
    """The exit status of a command in a folder, and what it prints."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if not child:
            for stream, kept in ((output, 1), (errors, 2)):
                os.dup2(stream.fileno(), kept)
            os.chdir(folder)
            os._exit(_ended(words))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        printed = []
        for stream in (output, errors):
            stream.seek(0)
            printed.append(stream.read().decode())
    return {"status": status, "output": printed[0], "errors": printed[1]}


def _ended(words: list[str]) -> int:
    """The exit status of a command in this process."""
    try:
        diagnose(words)
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
    warm(Path(__file__))
    import_all(["torch._dynamo"])  # as a program's optimizer would, in each command
    gc.freeze()  # what was imported is nobody's garbage
    for row in sys.stdin:
        asked = json.loads(row)
        print(json.dumps(command(Path(asked["folder"]), asked["words"])), flush=True)


if __name__ == "__main__":
    main()
