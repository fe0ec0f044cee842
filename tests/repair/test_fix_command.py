"""``diagnose fix`` as a user runs it: in a process, in a folder of files."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner
from forked import command, simulation
from repair import programs

from diagnose.commands.fix import fix
from diagnose.repair.runs import landlock
from diagnose.repair.words import say

GIT = shutil.which("git")


def run(folder: Path, *words: str, **given: Any) -> subprocess.CompletedProcess[str]:
    """The command, forked from a process that has imported torch."""
    return command(folder, "fix", *words, **given)


def fixed(folder: Path, *words: str) -> dict[str, Any]:
    done = run(folder, "--format", "json", *words)
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found | {"exit": done.returncode}


def applied(folder: Path, diff: str) -> None:
    assert GIT
    subprocess.run(
        [GIT, "apply", "-"],
        input=diff,
        text=True,
        cwd=folder,
        check=True,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)},
    )


def written(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_three_mistakes_are_mended_and_proven(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(programs.THREE)
    found = fixed(tmp_path, "--output", "fix.diff", "train.py")
    assert (found["exit"], found["outcome"], found["level"]) == (0, "repaired", "proven")
    assert {one["line"] for one in found["edits"]} == {8, 9, 16}
    assert all(one["proven"] for one in found["edits"])
    fixes = [fix for cause in found["answer"]["causes"] for fix in cause["fixes"]]
    assert [fix["proven"] for fix in fixes if fix["patch"] == found["edits"][0]["patch"]] == [True]
    assert script.read_text() == programs.THREE
    assert written(tmp_path) == {"train.py", "fix.diff"}
    applied(tmp_path, (tmp_path / "fix.diff").read_text())
    again = fixed(tmp_path, "train.py")
    assert (again["exit"], again["outcome"]) == (0, "nothing-to-fix")


def test_a_module_beside_the_script_is_mended_where_its_table_is_made(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(programs.MODULE)
    (tmp_path / "main.py").write_text(programs.USES_MODULE)
    found = fixed(tmp_path, "main.py", "8")
    assert (found["level"], found["exit"]) == ("proven", 0)
    (edit,) = found["edits"]
    assert (edit["file"], edit["line"], edit["kind"]) == ("net.py", 8, "register-buffer")
    assert found["unexercised"] == ["never_called (net.py:14)"]
    assert "--- a/net.py" in found["diff"]
    assert "fix-" not in found["diff"] + edit["because"], "a path of the copy"


def test_a_module_is_run_by_its_name(tmp_path: Path) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "net.py").write_text(programs.MODULE)
    main = programs.USES_MODULE.replace("from net", "from .net")
    (package / "main.py").write_text(main)
    found = fixed(tmp_path, "-m", "pack.main", "8")
    assert found["level"] == "proven"
    assert [one["file"] for one in found["edits"]] == ["pack/net.py"]


@pytest.mark.parametrize("words", [["--apply"], ["--apply", "--level", "runs"]])
def test_apply_edits_the_files_and_keeps_them(tmp_path: Path, words: list[str]) -> None:
    script = tmp_path / "train.py"
    script.write_text(programs.ONE)
    script.chmod(0o755)
    done = run(tmp_path, *words, "train.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "train.py.orig").read_text() == programs.ONE
    assert script.read_text() != programs.ONE
    (offered,) = re.findall("diagnose remember --fixed-by '(.*)' LOG", done.stderr)
    assert offered.startswith("- ")
    assert " + " in offered
    assert script.stat().st_mode & 0o777 == 0o755
    assert run(tmp_path, "train.py").returncode == 0


def test_a_notebook_is_mended_in_its_cells(tmp_path: Path) -> None:
    head, rest = programs.ONE.split("inputs =")
    sources = ["%matplotlib inline\n" + head, "inputs =" + rest.rstrip()]
    written = {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# A title"]},
            *(
                {
                    "cell_type": "code",
                    "execution_count": 3,
                    "metadata": {"a": 1},
                    "outputs": [{"name": "stdout", "output_type": "stream", "text": ["old\n"]}],
                    "source": source.splitlines(keepends=True),
                }
                for source in sources
            ),
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps(written, indent=1) + "\n")
    done = run(tmp_path, "--apply", "train.ipynb")
    assert done.returncode == 0, done.stdout + done.stderr
    after = json.loads(path.read_text())
    assert [cell | {"source": 0} for cell in after["cells"]] == [
        cell | {"source": 0} for cell in written["cells"]
    ]
    assert after["cells"][:2] == written["cells"][:2]
    assert "inputs = torch.randn(8, 4, device=device)\n" in after["cells"][2]["source"] or (
        "inputs = torch.randn(8, 4).to(device)\n" in after["cells"][2]["source"]
    )
    assert run(tmp_path, "train.ipynb").returncode == 0


def test_apply_refuses_what_git_does_not_hold(tmp_path: Path) -> None:
    assert GIT
    script = tmp_path / "train.py"
    script.write_text("import torch\n")
    for words in (["init", "-q"], ["add", "train.py"]):
        subprocess.run([GIT, *words], cwd=tmp_path, check=True)
    name = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([GIT, *name, "commit", "-qm", "a"], cwd=tmp_path, check=True)
    script.write_text(programs.ONE)
    done = run(tmp_path, "--apply", "train.py")
    assert done.returncode == 2
    assert "not committed" in done.stderr
    assert "+++ b/train.py" in done.stdout, "the diff is not lost"
    assert script.read_text() == programs.ONE


def test_text_says_what_why_and_how_it_is_known(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(programs.ONE)
    out = run(tmp_path, "train.py").stdout
    assert out.startswith("train.py: repaired and proven")
    assert "Because  train.py:7" in out
    assert "output matches the reference run" in out
    assert "diagnose run --verify train.py" in out


def test_a_log_is_believed_first(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(programs.ONE)
    log = tmp_path / "train.log"
    log.write_text(simulation(tmp_path, "train.py").stderr)
    found = fixed(tmp_path, "--from", "train.log", "train.py")
    assert found["level"] == "proven"


@pytest.mark.parametrize(
    ("program", "words", "status", "said"),
    [
        (programs.HEALTHY, [], 0, "nothing to fix"),
        (programs.MISSING, [], 1, "No such file or directory: 'weights.pt'"),
        ("import sys\nsys.exit(7)\n", [], 1, "status 7"),
        ("def f(:\n", [], 1, "Unrelated error at train.py:1\nSyntaxError"),
        ("if 1:\n\tx = 1\n        y = 2\n", [], 1,
         "TabError: inconsistent use of tabs and spaces in indentation"),
        ("input()\n", [], 1, "get nothing on standard input"),
        ("from .net import x\n", [], 1, "diagnose fix -m train"),
        ("while True: pass\n", ["--timeout", "2"], 1, "did not end in time"),
        ("import os\nos.kill(os.getpid(), 11)\n", [], 1, "status 139"),
        ("import argparse\np = argparse.ArgumentParser()\np.add_argument('x')\np.parse_args()\n", [],
         1, "the following arguments are required: x"),
    ],
)  # fmt: skip
def test_what_cannot_be_mended_is_said(
    tmp_path: Path, program: str, words: list[str], status: int, said: str
) -> None:
    (tmp_path / "train.py").write_text(program)
    done = run(tmp_path, *words, "train.py")
    assert done.returncode == status, done.stdout + done.stderr
    assert said in done.stdout
    assert "Traceback" not in done.stderr
    assert written(tmp_path) == {"train.py"}


@pytest.mark.parametrize(
    "program", [programs.ONE.replace("\n", "\r"), 'bar = """progress\r50%"""\n' + programs.ONE]
)
def test_lines_that_no_diff_takes_are_said(tmp_path: Path, program: str) -> None:
    (tmp_path / "train.py").write_bytes(program.encode())
    done = run(tmp_path, "train.py")
    assert done.returncode == 1, done.stdout + done.stderr
    assert say("en", "unfit", file="train.py") in done.stdout


@pytest.mark.parametrize(
    "before",
    [
        "import os\nos.chdir('/')\n",
        "from pathlib import Path\nown = Path(__file__)\nown.write_text('# ran\\n' + own.read_text())\n",
    ],
)
def test_what_a_script_does_to_where_it_runs_costs_no_edit(tmp_path: Path, before: str) -> None:
    (tmp_path / "train.py").write_text(before + programs.ONE)
    found = fixed(tmp_path, "train.py")
    assert found["level"] == "proven", found
    assert found["diff"].count("\n+") == 2


def test_after_the_first_proof_less_is_looked_for_only_on_request(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(programs.THREE)
    plain, thorough = (fixed(tmp_path, *words, "train.py") for words in ([], ["--alternatives"]))
    assert plain["level"] == thorough["level"] == "proven"
    assert plain["runs"] < thorough["runs"]


def test_each_run_is_counted_where_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(programs.HEALTHY)
    first = say("en", "run", number=1, aim=say("en", "as-it-is"))
    assert run(tmp_path, "train.py").stderr.splitlines() == [f"diagnose: {first}"]


def test_a_script_that_writes_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("of the user's")
    script = "open('data.txt', 'w').write('lost')\nopen('new.txt', 'w')\n" + programs.ONE
    (tmp_path / "train.py").write_text(script)
    found = fixed(tmp_path, "train.py")
    assert found["level"] == "proven"
    assert written(tmp_path) == {"train.py", "data.txt"}
    assert (tmp_path / "data.txt").read_text() == "of the user's"


@pytest.mark.parametrize(
    "writing",
    [
        "open(path, 'w')",
        "__import__('os').remove(path)",
        "__import__('shutil').move(path, path + '.1')",
        "__import__('torch').save({}, path)",
        "__import__('pathlib').Path(path).write_text('lost')",
    ],
)
def test_a_script_cannot_write_to_the_users_own_files(tmp_path: Path, writing: str) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("of the user's")
    script = f"path = {str(kept)!r}\n{writing}\n" + programs.ONE
    (tmp_path / "train.py").write_text(script)
    done = run(tmp_path, "train.py")
    assert done.returncode == 1
    assert "lets the program write only to copies" in done.stdout
    assert kept.read_text() == "of the user's"
    assert written(tmp_path) == {"train.py", "kept.txt"}


@pytest.mark.skipif(not landlock.version(), reason="this kernel refuses nothing")
@pytest.mark.parametrize(
    "writing",
    [
        "os.open('kept.txt', os.O_WRONLY | os.O_TRUNC, dir_fd=os.open(folder, os.O_RDONLY))",
        "os.unlink('kept.txt', dir_fd=os.open(folder, os.O_RDONLY))",
        "os.open('kept.txt', os.O_WRONLY | os.O_TRUNC, dir_fd=os.open('linked', os.O_RDONLY))",
        "import subprocess; subprocess.run('echo lost > linked/kept.txt', shell=True, check=True)",
        "import ctypes; assert ctypes.CDLL(None).creat(b'linked/kept.txt', 0o600) >= 0",
    ],
)
def test_the_kernel_keeps_what_audit_hooks_do_not_see(tmp_path: Path, writing: str) -> None:
    user, other = tmp_path / "user", tmp_path / "other"
    kept = [folder / "kept.txt" for folder in (user, other)]
    for one in kept:
        one.parent.mkdir()
        one.write_text("of the user's")
    (user / "linked").symlink_to(other)
    script = f"import os\nfolder = {str(user)!r}\n{writing}\n" + programs.ONE
    (user / "train.py").write_text(script)
    # Temporary folders may be written to: the linked one is none.
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = run(user, "train.py", variables={"TMPDIR": str(temporary)})
    assert done.returncode == 1, done.stdout
    assert [one.read_text() for one in kept] == ["of the user's"] * 2
    assert not list(temporary.iterdir())


@pytest.mark.skipif(not landlock.version(), reason="this kernel refuses nothing")
def test_beside_a_folder_among_temporary_ones_nothing_is_written(tmp_path: Path) -> None:
    user, kept = tmp_path / "user", tmp_path / "other" / "kept.txt"
    for folder in (user, kept.parent):
        folder.mkdir()
    kept.write_text("of somebody's")
    writing = f"import ctypes; assert ctypes.CDLL(None).creat({str(kept).encode()!r}, 0o600) >= 0\n"
    (user / "train.py").write_text(writing + programs.ONE)
    done = run(user, "train.py", variables={"TMPDIR": str(tmp_path)})
    assert done.returncode == 1, done.stdout
    assert kept.read_text() == "of somebody's"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("import os\nos._exit(0)\n", "cut-short"),
        ("import os\nos.execv('/bin/true', ['true'])\n", "cut-short"),
        ("import os\nos.kill(os.getppid(), 9)\nos.kill(os.getpid(), 9)\n", "cut-short"),
        (
            "import multiprocessing\nmultiprocessing.get_context('spawn').Pool(1).map(abs, [1])\n",
            "unguarded",
        ),
    ],
)
def test_how_a_run_ended_that_told_nothing_is_said(tmp_path: Path, script: str, said: str) -> None:
    (tmp_path / "train.py").write_text(script + programs.ONE)
    done = run(tmp_path, "--timeout", "5" if said == "unguarded" else "60", "train.py")
    assert done.returncode == 1, done.stdout
    assert say("en", said) in done.stdout


def test_a_folder_that_is_linked_within_the_users_is_written_in_the_copy(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "old.txt").write_text("of the user's")
    (tmp_path / "linked").symlink_to(tmp_path / "made")
    script = "open('linked/new.txt', 'w').write('new')\nopen('made/new.txt')\n" + programs.ONE
    (tmp_path / "train.py").write_text(script)
    assert fixed(tmp_path, "train.py")["level"] == "proven"
    assert written(tmp_path / "made") == {"old.txt"}


def test_what_is_not_contained_is_said_before_the_first_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text("print(1)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("diagnose.commands.fix.contains", lambda: False)
    done = CliRunner().invoke(fix, ["train.py"])
    assert (done.exit_code, done.stderr.count(say("en", "not-contained"))) == (0, 1)


def test_a_flood_of_output_is_read_and_not_kept(tmp_path: Path) -> None:
    flood = "for _ in range(1000):\n    print('x' * 100_000)\n"
    (tmp_path / "train.py").write_text(flood + programs.ONE)
    found = fixed(tmp_path, "train.py")
    assert found["outcome"] == "repaired"
    assert len(json.dumps(found)) < 500_000


@pytest.mark.large
def test_a_gigabyte_of_output_takes_no_memory_and_no_disk(tmp_path: Path) -> None:
    copies, user = tmp_path / "copies", tmp_path / "user"
    for folder in (copies, user):
        folder.mkdir()
    line = "import sys\nfor _ in range({count}):\n    sys.stdout.write('x' * 999_999 + chr(10))\n"
    taken = {}
    for count in (1, 1000):
        (user / "train.py").write_text(line.format(count=count) + programs.HEALTHY)
        taken[count] = _taken(user, copies)
    assert taken[1000][0] - taken[1][0] < 50_000_000, "memory"
    assert taken[1000][1] < 5_000_000, "disk"


def _taken(user: Path, copies: Path) -> tuple[int, int]:
    """The most memory of ``diagnose fix train.py`` itself, and the most that it has on disk."""
    process = psutil.Popen(
        [sys.executable, "-m", "diagnose", "fix", "train.py"],
        cwd=user,
        env={**os.environ, "TMPDIR": str(copies)},
        stdout=subprocess.DEVNULL,
    )
    memory = disk = 0
    while process.poll() is None:
        with contextlib.suppress(psutil.Error, OSError):
            memory = max(memory, process.memory_info().rss)
            disk = max(disk, sum(path.stat().st_size for path in copies.rglob("*")))
        time.sleep(0.05)
    assert process.returncode == 0, "nothing to fix"
    return memory, disk


def test_processes_that_a_script_starts_end_with_it(tmp_path: Path) -> None:
    copies, user = tmp_path / "copies", tmp_path / "user"
    for folder in (copies, user):
        folder.mkdir()
    (user / "train.py").write_text(
        "import os, time\nif os.fork() == 0:\n    time.sleep(600)\n" + programs.ONE
    )
    done = subprocess.run(
        [sys.executable, "-m", "diagnose", "fix", "train.py"],
        cwd=user,
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(copies)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(_with_temporary_files_in(copies))


def _with_temporary_files_in(folder: Path) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("TMPDIR") == str(folder):
                yield process


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells what memory is free")
def test_memory_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import mmap, resource\n"
        "most = resource.getrlimit(resource.RLIMIT_DATA)[0]\n"
        "def block(size):  # asked for, and never written to: that would take a minute\n"
        "    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE)\n"
        "blocks = [block(most // 4)]\n"
        "try:\n"
        "    blocks += [block(most // 2), block(most // 2)]\n"
        "except OSError:\n"
        "    raise SystemExit(9)\n"
    )
    done = run(tmp_path, "train.py")
    assert (done.returncode, "status 9" in done.stdout) == (1, True), done.stdout


@pytest.mark.parametrize(
    ("sent", "status"),
    [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGINT, 128 + signal.SIGINT)],
)
def test_stopped_in_the_middle_it_leaves_nothing(
    tmp_path: Path, sent: signal.Signals, status: int
) -> None:
    copies = tmp_path / "tmp"
    user = tmp_path / "user"
    for folder in (copies, user):
        folder.mkdir()
    (user / "train.py").write_text("import time\ntime.sleep(100)\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "diagnose", "fix", "train.py"],
        cwd=user,
        env={**os.environ, "TMPDIR": str(copies)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A shell lets what it starts in the background ignore the keyboard, and so would this process.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not list(copies.rglob("train.py")):
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(sent)
    # Interrupted within `exec` of a string (a dataclass of torch's), CPython ends by the signal itself, whatever
    # the status that it was given: a shell tells both alike.
    assert process.wait() in (status, -sent)
    assert written(user) == {"train.py"}
    assert not list(copies.glob("diagnose-fix-*"))


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    (tmp_path / "train.py").write_text(programs.ONE)
    done = run(tmp_path, "--output", "/dev/full", "train.py")
    assert done.returncode == 2
    assert "/dev/full" in done.stderr
    assert (tmp_path / "train.py").read_text() == programs.ONE


@pytest.mark.parametrize(
    ("made", "moved"), [("[ids, mask]", "v.to(device)"), ("{'ids': ids}", "items()")]
)
def test_what_only_the_values_tell_is_moved(tmp_path: Path, made: str, moved: str) -> None:
    program = programs.CALLED.replace("MADE", made)
    (tmp_path / "train.py").write_text(program)
    found = fixed(tmp_path, "train.py")
    assert (found["outcome"], found["failure"]["placement"]) == ("repaired", True)
    assert moved in found["diff"]


@pytest.mark.faults
@pytest.mark.parametrize(
    ("fails", "status", "outcome", "lacking"),
    [
        ("runs.process.candidates", 1, "not-repaired", ["candidates"]),
        ("synthesis.candidates._proposed", 0, "repaired", []),
        ("synthesis.candidates._witnessed", 0, "repaired", []),
        ("verification.proof.level_of", 1, "repaired", ["proof", "proof"]),
        ("refinement.polish.trimmed", 0, "repaired", ["polishing"]),
        ("search.unopposed", 0, "repaired", ["proof"]),
    ],
)
def test_a_fault_of_ours_costs_the_edits_and_not_what_the_run_told(
    tmp_path: Path, fails: str, status: int, outcome: str, lacking: list[str]
) -> None:
    program, line = programs.ONE, 8
    if fails.endswith(
        "_witnessed"
    ):  # is asked for what is moved, and not for what is made elsewhere
        given = "pickle.loads(pickle.dumps(torch.randn(8, 4)))"
        program, line = "import pickle\n" + program.replace("torch.randn(8, 4)", given), 9
    (tmp_path / "train.py").write_text(program)
    done = run(tmp_path, "--alternatives", "--format", "json", "train.py", fails=fails)
    found = json.loads(done.stdout)
    assert (done.returncode, found["outcome"]) == (status, outcome)
    assert found["failure"]["place"] == f"train.py:{line}"
    assert [one.partition(":")[0] for one in found["incomplete"]] == lacking
    assert "secret" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_in_chinese_it_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(programs.ONE)
    done = run(tmp_path, "--lang", "zh", "train.py")
    assert done.returncode == 0, done.stdout + done.stderr
    head, _, rest = done.stdout.partition("\n")
    assert head.startswith("train.py: 已修复并验证")
    told = rest[rest.index("\n原因 ") + 1 :].splitlines()
    assert {line.split()[0] for line in told if line[0] != " "} == {"原因", "检查", "验证"}
    proofs = [line.partition("ok ")[2].strip() for line in told if "ok " in line]
    assert proofs and all("\u4e00" <= said[0] <= "\u9fff" for said in proofs)


@pytest.mark.parametrize("name", programs.ORIGINS)
def test_what_the_answer_does_not_propose_comes_from_where_the_operands_do(
    tmp_path: Path, name: str
) -> None:
    program, edit = programs.ORIGINS[name]
    (tmp_path / "train.py").write_text(program)
    found = fixed(tmp_path, "train.py")
    assert found["level"] == "proven", found["guards"]
    assert edit in found["diff"]


def test_what_is_fetched_in_the_midst_of_its_call_is_no_proof(tmp_path: Path) -> None:
    """Nobody puts it back: the program keeps it on the cpu to save memory."""
    (tmp_path / "train.py").write_text(programs.PUT_AWAY)
    found = fixed(tmp_path, "train.py")
    assert found["level"] == "same-numbers"
    assert "put-away" in [guard["id"] for guard in found["guards"] if guard["holds"] is False]
    assert "+        return self.other.to(self.device)(x)" in found["diff"]


def test_ranks_of_a_launcher_are_mended_together(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(programs.RANKS)
    done = run(tmp_path, "torchrun", "--nproc-per-node=2", "train.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "--- a/train.py\n+++ b/train.py\n@@ -7,7 +7,7 @@" in done.stdout
    assert "torchrun --nproc-per-node 2 -m diagnose run --verify train.py" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["absent.py"], "there is no script absent.py"),
        (["python", "-m", "absent.train"], "there is no module absent.train"),
        (["-"], "has to be a file"),
        (["accelerate", "launch", "train.py"], "torchrun --nproc-per-node N SCRIPT"),
    ],
)
def test_bad_usage_is_a_sentence(tmp_path: Path, words: list[str], said: str) -> None:
    done = run(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_what_was_not_copied_is_told(tmp_path: Path) -> None:
    (tmp_path / "shared.py").write_text("")
    inner = tmp_path / "scripts"
    inner.mkdir()
    above = "import sys\nfrom pathlib import Path\n"
    above += "sys.path.append(str(Path(__file__).resolve().parents[1]))\nimport shared\n"
    (inner / "train.py").write_text(above)
    done = run(inner, "train.py")
    assert done.returncode == 1
    assert f"Run diagnose fix in {tmp_path}." in done.stdout


def test_temporary_folders_are_for_copies(tmp_path: Path) -> None:
    assert tmp_path.is_relative_to(tempfile.gettempdir()), "else the test above shows nothing"
