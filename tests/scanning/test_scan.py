"""``diagnose`` as its users run it, fingerprints, groups, and the mapper on Dask."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parsing.knowledge import parse

from diagnose.memory.key import key
from diagnose.pipeline import diagnose
from diagnose.scanning import Grouping, ScannedLog, scan_log
from diagnose.scanning.findings import logs
from diagnose.scanning.formats import csv as as_csv
from diagnose.scanning.formats import json as as_json
from diagnose.scanning.formats import table
from diagnose.scanning.formats.records import spans
from diagnose.scanning.groups import grouped
from diagnose.scanning.log import Occurrence

ROOT = Path(__file__).parents[1]
FORMS = sorted((ROOT / "parsing" / "forms").glob("*.txt"))
PLAIN = (ROOT / "parsing" / "forms" / "cpython.txt").read_text()
SHAPES = (
    PLAIN[: PLAIN.rindex("RuntimeError")] + "RuntimeError: size mismatch for fc.weight (8x{0})\n"
)


def run(
    *args: str, stdin: bytes = b"", cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "diagnose", "answer", "--group", *args],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        timeout=120,
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Five logs, one of them compressed, a checkpoint, a hidden file."""
    (tmp_path / "a").mkdir()
    ranks = "".join(f"[rank{n}]: {line}\n" for n in (0, 1, 3) for line in PLAIN.splitlines())
    (tmp_path / "a" / "one.log").write_text("healthy\n" + PLAIN)
    (tmp_path / "a" / "two.log").write_text(ranks.replace("cuda:1", "cuda:7"))
    (tmp_path / "three.log.gz").write_bytes(
        gzip.compress(("step\n" * 9 + SHAPES.format(3)).encode())
    )
    (tmp_path / "four.log").write_text(SHAPES.format(44) + "restarted\n" + PLAIN)
    (tmp_path / "fine.log").write_text("step 1 loss 2.0\n")
    (tmp_path / "model.safetensors").write_bytes(b"Traceback" * 10)
    (tmp_path / ".hidden").write_text(PLAIN)
    for age, name in enumerate(["four.log", "a/one.log", "a/two.log", "three.log.gz", "fine.log"]):
        os.utime(tmp_path / name, (1_700_000_000 + age, 1_700_000_000 + age))
    return tmp_path


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_equal_failures_of_a_folder_are_one_group(store: Path, jobs: str) -> None:
    done = run("--format", "json", "--jobs", jobs, ".", cwd=store)
    assert done.returncode == 1, done.stderr
    answer = json.loads(done.stdout)
    assert answer["logs"] == 5
    assert answer["unread"] == []
    device, shapes = answer["failures"]
    assert device["type"] == "RuntimeError"
    assert device["family"] == "device-placement"
    assert device["logs"] == 3
    assert device["count"] == 5
    assert device["ranks"] == [0, 1, 3]
    assert device["cause"]
    culprit = diagnose(PLAIN).culprit
    assert culprit is not None
    assert (device["file"], device["line"]) == (culprit.file, culprit.line)
    assert device["first_log"] == "four.log"
    assert device["first_line"] == 2 * PLAIN.count("\n") + 1
    assert device["first_modified"] == "2023-11-14T22:13:20+00:00"
    assert shapes["family"] == "serialization"
    assert shapes["cause"] is None
    assert (shapes["logs"], shapes["count"], shapes["first_log"]) == (2, 2, "four.log")


def test_table_and_csv_say_the_same(store: Path) -> None:
    shown = run(".", cwd=store).stdout.decode()
    assert shown.startswith("2 kinds of failure in 4 of 5 logs")
    assert "proj/steps.py:9" in shown
    assert "0-1 3" in shown
    rows = list(csv.DictReader(io.StringIO(run("--format", "csv", ".", cwd=store).stdout.decode())))
    assert [row["count"] for row in rows] == ["5", "2"]
    assert all(row["fingerprint"] in shown for row in rows)


def test_standard_input_and_output_file(tmp_path: Path) -> None:
    done = run(
        "--format", "json", "-o", "out.json", "-", stdin=gzip.compress(PLAIN.encode()), cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert json.loads((tmp_path / "out.json").read_text())["failures"][0]["first_log"] == "-"


def test_the_straight_way_says_what_the_options_say(store: Path) -> None:
    command = [sys.executable, "-m", "diagnose", str(store)]
    straight = subprocess.run(command, capture_output=True, timeout=120)
    by_click = run("--format", "text", str(store))
    assert (straight.returncode, straight.stdout) == (by_click.returncode, by_click.stdout)
    assert straight.returncode == 1


def test_several_files_are_put_together_unless_each_is_asked_for(store: Path) -> None:
    command = [sys.executable, "-m", "diagnose"]
    logs = ["four.log", "a/one.log"]
    together = subprocess.run([*command, *logs], capture_output=True, cwd=store, timeout=120)
    assert together.stdout.decode().startswith("2 kinds of failure in 2 of 2 logs")
    each = subprocess.run(
        [*command, "--format", "json", *logs], capture_output=True, cwd=store, timeout=120
    )
    assert [json.loads(line)["source"] for line in each.stdout.splitlines()] == logs


def test_statuses(store: Path) -> None:
    assert run("fine.log", cwd=store).returncode == 0
    (store / "empty").mkdir()
    assert run("empty", cwd=store).returncode == 3
    assert run("three.log.gz", cwd=store).returncode == 1
    assert run("missing.log", cwd=store).returncode == 2
    some = run("missing.log", "four.log", cwd=store)
    assert some.returncode == 1
    assert run("--exit-zero", "four.log", cwd=store).returncode == 0
    assert run("--exit-zero", "missing.log", cwd=store).returncode == 2
    assert (
        some.stderr.decode() == "diagnose: missing.log cannot be read: No such file or directory\n"
    )
    assert run(cwd=store).returncode == 2


def test_names_choose_the_files_of_folders(store: Path) -> None:
    names = {Path(name).name for name, _ in logs([str(store)])}
    assert names == {"one.log", "two.log", "three.log.gz", "four.log", "fine.log"}
    assert [Path(n).name for n, _ in logs([str(store)], ["*.gz"])] == ["three.log.gz"]
    named = str(store / "model.safetensors")
    assert list(logs([named])) == [(named, 90)]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_a_folder_does_not_hang_the_scan(store: Path) -> None:
    os.mkfifo(store / "pipe.log")
    assert "pipe.log" not in {Path(name).name for name, _ in logs([str(store)])}


def test_damaged_and_binary_logs_are_told_and_lose_nothing(store: Path) -> None:
    (store / "bad.gz").write_bytes(b"\x1f\x8b" + b"junk" * 50)
    (store / "core").write_bytes(bytes(range(256)) * 40)
    done = run("--format", "json", ".", cwd=store)
    told = done.stderr.decode()
    assert "bad.gz is no valid gzip file" in told
    assert "core is binary" in told
    assert len(json.loads(done.stdout)["failures"]) == 2


def test_scan_and_answer_agree_on_every_form() -> None:
    reference = key(parse(PLAIN)).digest
    for path in FORMS:
        found = scan_log(str(path)).occurrences
        report = parse(path.read_bytes())
        assert [one.fingerprint for one in found] == [key(report).digest], path.stem
        assert report.error is not None
        assert 0 < (found[0].line or 0) <= (report.error.at or 0)
        # pretty_errors prints no folders: whose code it is, is lost; some modes of IPython hide the frames.
        if len(report.frames) > 1 and "/" in report.frames[-1].file:
            assert found[0].fingerprint == reference, path.stem


def occurrence(key: str, log: str, count: int = 1, ranks: tuple[int, ...] = ()) -> Occurrence:
    return Occurrence(key, "E", "m", None, log, 1, count, ranks)


SCANNED = st.builds(
    lambda log, keys: ScannedLog(log, tuple(occurrence(k, log, 2, (int(log),)) for k in keys)),
    st.integers(0, 50).map(str),
    st.sets(st.sampled_from("abc")),
)


@given(st.lists(SCANNED, max_size=12, unique_by=lambda s: s.log), st.integers(0, 12))
def test_parts_grouped_apart_and_merged_are_the_whole(parts: list[ScannedLog], cut: int) -> None:
    merged = grouped(parts[:cut]).merge(grouped(parts[cut:]))
    assert as_json.render(merged) == as_json.render(grouped(parts))
    assert sum(group.count for group in merged.ordered()) == 2 * sum(
        len(p.occurrences) for p in parts
    )


@given(st.sets(st.integers(0, 300)))
def test_ranks_are_written_as_spans(ranks: set[int]) -> None:
    read: set[int] = set()
    for part in spans(ranks).split():
        low, _, high = part.partition("-")
        read |= set(range(int(low), int(high or low) + 1))
    assert read == ranks


def test_text_of_logs_steers_neither_terminal_nor_spreadsheet() -> None:
    evil = occurrence("k", "\x1b]0;x\x07.log")._replace(
        message="=HYPERLINK(1)\x1b[2J",
        file="@SUM(1).py",
        type="",
    )
    grouping = grouped([ScannedLog("x", (evil,))])
    assert "\x1b" not in table.render(grouping) + as_csv.render(grouping)
    row = next(csv.DictReader(io.StringIO(as_csv.render(grouping))))
    assert row["message"].startswith("'=")
    assert row["file"].startswith("'@")
    assert "\x1b" not in as_json.render(grouping)


def test_nothing_found_is_said() -> None:
    grouping = Grouping()
    grouping.logs = 3
    assert table.render(grouping) == "No failures found in 3 logs.\n"


def test_the_mapper_on_dask_finds_what_the_command_finds(store: Path) -> None:
    pytest.importorskip("dask")
    from diagnose.scanning.engine import scan_urls

    (store / "broken.log.gz").write_bytes(b"\x1f\x8b" + b"junk" * 50)
    lazy = scan_urls([f"file://{store}/*.log*", f"{store}/a/*.log"], partitions=3)
    grouping = lazy.compute(scheduler="threads", num_workers=2)
    local = json.loads(run("--format", "json", ".", cwd=store).stdout)
    assert grouping.logs == local["logs"] == 6
    assert [p for p in grouping.problems if "broken.log.gz cannot be read: CompressionError" in p]
    assert {(g.fingerprint, g.count, g.logs) for g in grouping.ordered()} == {
        (f["fingerprint"], f["count"], f["logs"]) for f in local["failures"]
    }


def test_the_mapper_tells_what_is_missing(store: Path) -> None:
    pytest.importorskip("dask")
    from diagnose.scanning.engine import scan_url, scan_urls

    with pytest.raises(FileNotFoundError):
        scan_urls(f"{store}/no/*.such")
    assert "cannot be read" in str(scan_url(f"file://{store}/no.log").problem)


def test_logs_and_answers_take_compressed_input(tmp_path: Path) -> None:
    path = tmp_path / "train.log.gz"
    path.write_bytes(gzip.compress(PLAIN.encode()))
    culprit = diagnose(PLAIN).culprit
    for name, stdin in ((str(path), b""), ("-", path.read_bytes())):
        done = subprocess.run(
            [sys.executable, "-m", "diagnose", "--format", "json", name],
            input=stdin,
            capture_output=True,
            timeout=60,
        )
        assert culprit is not None
        assert json.loads(done.stdout)["culprit"]["line"] == culprit.line


def test_zstandard_without_its_package_gets_a_sentence(tmp_path: Path) -> None:
    if sys.version_info >= (3, 14):
        pytest.skip("Python 3.14 reads zstandard itself")
    path = tmp_path / "x.log.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + b"\0" * 20)
    code = (
        "import sys; sys.modules['backports.zstd'] = None; from diagnose.cli import main; "
        f"main([{str(path)!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "is compressed with zstandard: pip install backports.zstd" in done.stderr
    assert "Traceback" not in done.stderr
