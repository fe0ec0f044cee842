"""The one door for errors: whatever goes wrong in any subcommand ends in a sentence and a status. Real processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import forked
import pytest
from compiling.small import written

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes, devices and signals of POSIX")

TRACE = """\
Traceback (most recent call last):
  File "/home/user/project/net.py", line 12, in forward
    return x + self.pe[:, : x.size(1)]
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""
FULL = Path("/dev/full")
full = pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")

#: Each subcommand that reads the case base or prints; LOG and KB (a small one) are put in.
COMMANDS = {
    "files alone": ("LOG",),
    "answer": ("answer", "--top", "1", "LOG"),
    "group": ("--group", "LOG"),
    "explain": ("explain", "meta-tensor"),
    "words": ("explain", "nan"),
    "verification": ("explain", "meta-tensor", "--verification"),
    "causes": ("explain",),
    "kb evaluate": ("kb", "evaluate", "LABELLED"),
    "kb why": ("kb", "why", "LOG"),
    "kb check": ("kb", "check", "--kb", "KB"),
}
READS_CASEBASE = [name for name in COMMANDS if name != "kb check"]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text(TRACE)
    return path


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "diagnose", *args]


def arguments(name: str, log: Path) -> list[str]:
    folder, kb = log.parent / "labelled", log.parent / "kb"
    folder.mkdir()
    written(kb)
    shutil.copy(log, folder / "a.txt")
    (folder / "a.json").write_text('{"family": "device-placement"}')
    put = {"LOG": str(log), "KB": str(kb), "LABELLED": str(folder)}
    return command(*(put.get(word, word) for word in COMMANDS[name]))


def ended(done: subprocess.CompletedProcess[bytes], status: int) -> str:
    """What stands on standard error after an end without a traceback of ours."""
    told = (done.stderr or b"").decode()
    assert "Traceback" not in told
    assert done.returncode == status, told
    return told


@full
@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_told(name: str, log: Path) -> None:
    with FULL.open("wb") as out:
        done = subprocess.run(arguments(name, log), stdout=out, stderr=subprocess.PIPE, timeout=120)
    assert "standard output cannot be written: No space left on device" in ended(done, 2)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_closed_standard_output_is_told(name: str, log: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *arguments(name, log)],
        stderr=subprocess.PIPE,
        timeout=120,
    )
    assert "standard output cannot be written: it is closed" in ended(done, 2)


@pytest.mark.parametrize("name", READS_CASEBASE)
@pytest.mark.parametrize("broken", ["missing", "no database", "another schema", "cut"])
def test_an_unreadable_case_base_is_told(
    name: str, broken: str, log: Path, tmp_path: Path, casebase_path: Path
) -> None:
    path = tmp_path / "casebase.sqlite"
    if broken == "no database":
        path.write_text("root:x:0:0\n" * 100)
    elif broken == "cut":
        path.write_bytes(casebase_path.read_bytes()[:100_000])
    elif broken == "another schema":
        import sqlite3

        shutil.copy(casebase_path, path)
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")
    done = subprocess.run(
        [forked.python(), *arguments(name, log)[1:]],
        capture_output=True,
        env={**os.environ, "DIAGNOSE_CASEBASE": str(path)},
        timeout=120,
    )
    assert f"case base {path}" in ended(done, 2)


def test_a_closed_standard_error_keeps_its_words_out_of_the_answer(log: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" 2>&-', "sh", *command("--format", "json", "missing.log", str(log))],
        stdout=subprocess.PIPE,
        timeout=120,
    )
    assert done.returncode == 2
    assert done.stdout.startswith(b'{"schema": ')
    assert done.stdout.count(b"\n") == 1


# --- inputs that never begin or never end ---------------------------------------------------------


@pytest.mark.parametrize("verb", [(), ("--group",), ("kb", "new", "--from")])
def test_a_pipe_that_nobody_writes_to_is_refused(verb: tuple[str, ...], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    kb = ("--kb", str(Path(__file__).parents[1] / "kb")) if "kb" in verb else ()
    done = subprocess.run(
        command(*verb, str(tmp_path / "pipe"), *kb), capture_output=True, timeout=60
    )
    assert "is a pipe that nobody writes to" in ended(done, 2)


def test_a_pipe_with_a_slow_writer_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(command(str(pipe)), stdout=subprocess.PIPE) as process:
        with pipe.open("w") as file:
            file.write(TRACE[:40])
            file.flush()
            time.sleep(3)
            file.write(TRACE[40:])
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"net.py:12" in out


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize("producer", ["cat", "sleep 3; cat"])
def test_a_process_substitution_is_read(producer: str, log: Path) -> None:
    script = f'"$@" <({producer} {log})'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *command()], capture_output=True, timeout=60
    )
    assert b"net.py:12" in done.stdout
    assert done.returncode == 0


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero here")
@pytest.mark.parametrize("verb", [(), ("--group",)])
def test_a_device_is_refused(verb: tuple[str, ...]) -> None:
    done = subprocess.run(command(*verb, "/dev/zero"), capture_output=True, timeout=60)
    assert "/dev/zero is a device, not a log" in ended(done, 2)


# --- kb/ ------------------------------------------------------------------------------------------

CASES = {
    "deep": ("a = " + "[" * 50_000, "nested too deeply"),
    "infinite": ("gpus = 1e400", "gpus: must be a whole number, not inf"),
    "no number": ("gpus = nan", "gpus: must be a whole number, not nan"),
    "long number": ("gpus = 1" + "0" * 4000, "allowed: up to 64"),
    "no text": ("\x00", ""),
}


@pytest.fixture
def own_kb(tmp_path: Path) -> Path:
    """A kb/ for broken incidents."""
    return written(tmp_path / "kb")


def test_broken_incidents_are_mistakes_of_their_files(own_kb: Path) -> None:
    for name, (text, _) in CASES.items():
        (own_kb / "cases" / name).mkdir()
        (own_kb / "cases" / name / "case.toml").write_text(text)
    done = subprocess.run(
        command("kb", "check", "--kb", str(own_kb)), capture_output=True, timeout=120
    )
    ended(done, 1)
    lines = done.stdout.decode().splitlines()
    for name, (_, reason) in CASES.items():
        told = [line for line in lines if f"cases/{name}/case.toml:" in line]
        assert any(reason in line for line in told), name
        assert all(len(line) < 1000 for line in told), name


def test_an_incident_that_is_no_file_is_a_mistake(own_kb: Path) -> None:
    files = list(product(("pipe", "device"), ("case.toml", "reproduce.py", "trace.txt")))
    for kind, file in files:
        folder = own_kb / "cases" / f"{kind}-{file}"
        folder.mkdir()
        (folder / "case.toml").write_text(f"id = '{folder.name}'")
        path = folder / file
        path.unlink(missing_ok=True)
        if kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero")
    for verb in ("check", "build"):
        done = subprocess.run(
            command("cases", verb, "--kb", str(own_kb)), capture_output=True, timeout=120
        )
        told = ended(done, 1 if verb == "check" else 2) + done.stdout.decode()
        for kind, file in files:
            # Of a trace nothing is said while its incident has other mistakes; it is not read either.
            assert f"cases/{kind}-{file}/" in told
            assert file == "trace.txt" or f"/{kind}-{file}/{file}: -: is no regular file" in told


@full
def test_a_build_onto_a_full_disk_leaves_what_was_there(own_kb: Path, tmp_path: Path) -> None:
    """A limit of the process stands in for the disk's end: it fails the same write."""
    target = tmp_path / "out" / "casebase.sqlite"
    target.parent.mkdir()
    target.write_text("the earlier one")
    script = f"ulimit -f 20; trap '' XFSZ; exec \"$@\" --kb {own_kb} -o {target}"
    done = subprocess.run(
        ["bash", "-c", script, "bash", *command("kb", "build")], capture_output=True, timeout=120
    )
    assert f"the case base {target} cannot be written: " in ended(done, 2)
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    assert target.read_text() == "the earlier one"


# --- what is written ------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", [("--format", "json"), ("--group",)])
def test_a_failed_output_leaves_the_earlier_file_alone(
    verb: tuple[str, ...], log: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out" / "answer"
    target.parent.mkdir()
    target.write_text("the earlier one")
    target.chmod(0o640)
    script = "ulimit -f 0; trap '' XFSZ; exec \"$@\""
    done = subprocess.run(
        ["bash", "-c", script, "bash", *command(*verb, "-o", str(target), str(log))],
        capture_output=True,
        timeout=60,
    )
    assert f"{target} cannot be written: " in ended(done, 2)
    assert target.read_text() == "the earlier one"
    done = subprocess.run(
        command(*verb, "-o", str(target), str(log)), capture_output=True, timeout=60
    )
    assert "net.py" in target.read_text()
    assert target.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_an_interrupted_run_leaves_no_half_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    target = tmp_path / "out" / "answer.json"
    target.parent.mkdir()
    (tmp_path / "a.log").write_text(TRACE)
    arguments = ("--format", "json", "-o", str(target), str(tmp_path / "a.log"))
    with (
        subprocess.Popen(
            command(*arguments, str(tmp_path / "pipe")),
            stderr=subprocess.PIPE,
            # A shell that runs the tests in the background lets what it starts ignore Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as process,
        (tmp_path / "pipe").open("w"),
    ):  # opens when it is the second input's turn
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 1
    assert told.decode().strip() == "Aborted!"
    assert list(target.parent.iterdir()) == []


def test_an_output_may_be_a_device_or_a_link(log: Path, tmp_path: Path) -> None:
    done = subprocess.run(command("-o", "/dev/stdout", str(log)), capture_output=True, timeout=60)
    assert b"net.py:12" in done.stdout
    (tmp_path / "real").write_text("")
    (tmp_path / "link").symlink_to("real")
    subprocess.run(command("-o", str(tmp_path / "link"), str(log)), check=True, timeout=60)
    assert (tmp_path / "link").is_symlink()
    assert "net.py:12" in (tmp_path / "real").read_text()


@pytest.mark.parametrize(
    "args",
    [
        ("NAME",),
        ("--group", "NAME"),
        ("-o", "NAME/x", "LOG"),
        ("run", "--simulate", "NAME"),
        ("kb", "check", "NAME"),
        ("explain", "--format", "NAME"),
        ("explain", "meta-tensor", "--verification", "--output", "NAME/x"),
    ],
)
def test_no_name_steers_the_terminal(args: tuple[str, ...], log: Path) -> None:
    put = {"LOG": str(log)}
    words = [put.get(word, word).replace("NAME", "x\x1b[31m\x07y") for word in args]
    done = subprocess.run(command(*words), capture_output=True, timeout=60)
    told = ended(done, 2)
    assert "\x1b" not in told
    assert "\x07" not in told
