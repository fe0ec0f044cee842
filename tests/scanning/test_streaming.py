"""Large logs: what is found in them, at which line, in how much memory, from which kinds of files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parsing.knowledge import families, knowledge, parse, wordings

from diagnose.model import Report
from diagnose.parsing import Seen, compression, literals, parse_failures, parse_stream, streaming
from diagnose.parsing.bytestream import ByteStream, Chunks
from diagnose.parsing.compression import CompressionError, decompressed
from diagnose.parsing.lines import Peeled
from diagnose.parsing.marks import Marks, derive

ROOT = Path(__file__).parents[1]
#: Documents of their own, which never stand in a log; in journald's bytes no word is to be found.
DOCUMENTS = {"notebook", "sentry", "pytest-junit", "cloudwatch-csv", "loki-json", "journald-json"}
FORMS = [
    path
    for path in sorted((ROOT / "parsing" / "forms").glob("*.txt"))
    if path.stem not in DOCUMENTS
]
PLAIN = (ROOT / "parsing" / "forms" / "cpython.txt").read_bytes()
NOISE = b"".join(
    b"2026-11-21 08:27:18,089 [INFO] trainer: step %d loss 0.1234 lr 1e-4 tokens/s 12345\n" % n
    for n in range(8_000)
)
NOISE_LINES = NOISE.count(b"\n")


@cache
def marks() -> Marks:
    return derive(wordings(), families())


def telling_lines(stream: ByteStream) -> list[Peeled]:
    return streaming.telling_lines(stream, marks())


def streamed(data: bytes) -> Report:
    return parse_stream(io.BytesIO(data), knowledge=knowledge())


def failures(data: bytes) -> list[Seen]:
    return parse_failures(io.BytesIO(data), knowledge=knowledge())


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_every_form_is_found_in_the_middle_of_a_large_log(path: Path) -> None:
    form = path.read_bytes()
    alone = parse(form)
    report = streamed(NOISE + NOISE + form.rstrip(b"\n") + b"\n" + NOISE)
    assert alone.error is not None and report.error is not None
    assert report.error.type == alone.error.type
    assert report.mismatch == alone.mismatch
    assert [(f.file, f.line, f.function, f.code) for f in report.frames] == [
        (f.file, f.line, f.function, f.code) for f in alone.frames
    ]
    assert report.error.at == (alone.error.at or 0) + 2 * NOISE_LINES


@pytest.mark.parametrize("before", [streaming._BLOCK, 2 * streaming._BLOCK])
@pytest.mark.parametrize("shift", range(-40, 500, 37))
def test_a_traceback_across_the_seam_of_two_blocks(before: int, shift: int) -> None:
    start = before - shift
    noise = (NOISE * (1 + start // len(NOISE)))[: start - 1] + b"\n"
    report = streamed(noise + PLAIN + NOISE * 2)
    assert len(report.frames) == 6
    assert report.error is not None
    assert report.error.at == noise.count(b"\n") + PLAIN.count(b"\n")


@given(st.lists(st.integers(1, 400_000), min_size=1, max_size=6))
@settings(max_examples=25, deadline=None)
def test_line_numbers_are_right_wherever_the_mark_stands(gaps: list[int]) -> None:
    parts: list[bytes] = []
    for gap in gaps:
        parts += [(NOISE * (1 + gap // len(NOISE)))[:gap], b"\nRuntimeError: here\n"]
    data = b"".join(parts)
    lines = data.split(b"\n")
    marked = [line for line in telling_lines(io.BytesIO(data)) if line.text == "RuntimeError: here"]
    assert len(marked) == len(gaps)
    assert all(lines[line.number - 1] == b"RuntimeError: here" for line in marked)


@given(
    st.lists(
        st.sampled_from([b"Error", b"Traceback", b"nan ", b" nan", b"\n", b"x", b"\r", b"E   "])
        | st.binary(max_size=6),
        max_size=300,
    ),
    st.integers(1, 3000),
)
@settings(max_examples=60, deadline=None)
def test_no_line_is_told_twice_or_changed(pieces: list[bytes], times: int) -> None:
    data = (b"".join(pieces) * times)[:600_000]
    lines = data.decode("utf-8", "replace").split("\n")
    last = 0
    for line in telling_lines(io.BytesIO(data)):
        assert line.number >= last
        last = line.number
        assert line.text in lines[line.number - 1]


def test_a_traceback_survives_floods_of_weaker_marks() -> None:
    flood = b"step Error rate: 0.1 loss=nan\n" * 100_000
    report = streamed(flood + PLAIN + flood)
    assert report.mismatch is not None
    assert report.error is not None
    assert report.error.at == 100_000 + PLAIN.count(b"\n")


@pytest.mark.parametrize(
    "data",
    [
        b"Traceback" * 200_000,
        b"Error\n" * 100_000,
        b" nan\n" * 100_000,
        b'File "\r' * 400_000,
        b"\n" * 8_000_000,
        b"x" * 8_000_000 + b"Error",
        b"Traceback\n\n\n\n\n\n" * 60_000,
    ],
    ids=lambda data: repr(data[:12]),
)
def test_memory_stays_bounded(data: bytes) -> None:
    stream = io.BytesIO(data)
    tracemalloc.start()
    lines = telling_lines(stream)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 45_000_000
    assert len(lines) < 60_000


def test_without_the_search_library_the_same_lines_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = NOISE + PLAIN + NOISE + b"CUDA error: x\n" + NOISE
    fast = telling_lines(io.BytesIO(data))
    monkeypatch.setitem(sys.modules, "ahocorasick_rs", None)
    assert telling_lines(io.BytesIO(data)) == fast


@given(
    st.lists(
        st.sampled_from([b"Err", b"or", b"Error", b"Trace", b"back", b"x", b"\n"]), max_size=60
    )
)
def test_both_searches_find_every_mark(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    marks = (b"Error", b"Traceback")
    every = sorted(
        (
            (k, at, at + len(m))
            for k, m in enumerate(marks)
            for at in range(len(data))
            if data.startswith(m, at)
        ),
        key=lambda hit: hit[1],
    )
    assert literals.finder(marks)(data) == every
    assert set(literals._one_by_one(marks)(data)) <= set(every)


def test_line_feeds_are_counted_alike() -> None:
    count = literals.line_counter(len(NOISE))
    assert count(NOISE) == NOISE_LINES
    assert count(NOISE[1:]) == NOISE_LINES
    assert count(b"") == 0


def zstd(data: bytes) -> bytes:
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    packed: bytes = pytest.importorskip(name).compress(data)
    return packed


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
}
LOG = NOISE[:200_000] + b"\n" + PLAIN


@pytest.mark.parametrize("kind", PACKERS)
def test_compressed_logs_are_read(kind: str) -> None:
    packed = PACKERS[kind](LOG)
    assert read_all(packed) == LOG


@pytest.mark.parametrize("kind", PACKERS)
def test_members_one_after_another_are_read(kind: str) -> None:
    pack = PACKERS[kind]
    assert read_all(pack(b"one\n") + pack(b"") + pack(b"two\n")) == b"one\ntwo\n"


@pytest.mark.parametrize("kind", PACKERS)
def test_a_cut_file_is_read_as_far_as_it_goes(kind: str) -> None:
    chance = random.Random(7)
    data = b"".join(b"step %d loss %.9f\n" % (n, chance.random()) for n in range(100_000))
    whole = PACKERS[kind](data)
    for missing in (1, 4, 9, len(whole) // 3):
        read = read_all(whole[:-missing])
        assert data.startswith(read)
        # Whole blocks are lost where a format has blocks, of up to 900 kB.
        lost = 900_000 if kind == "bzip2" else 300_000 if kind == "zstd" else 70_000
        assert len(read) >= len(data) * (len(whole) - missing) // len(whole) - lost - 5_000
    if kind == "gzip":
        assert read_all(whole[:-4]) == read_all(whole[:-8]) == data


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("rest", [b"trailing garbage\n", b"\x1f", b"\0" * 700_000, b"\0\0x"])
def test_what_follows_a_whole_file_is_left_out(kind: str, rest: bytes) -> None:
    assert read_all(PACKERS[kind](LOG) + rest) == LOG


@pytest.mark.parametrize("kind", PACKERS)
def test_members_are_found_behind_zeros(kind: str) -> None:
    pack = PACKERS[kind]
    assert read_all(pack(b"one\n") + b"\0" * 300_000 + pack(b"two\n")) == b"one\ntwo\n"


def test_all_that_stands_before_damage_in_a_gzip_file_is_read() -> None:
    whole = gzip.compress(LOG)
    assert read_all(whole[:-8] + b"wrongsum") == LOG
    middle = len(whole) // 2
    undamaged = zlib.decompressobj(31).decompress(whole[:middle])
    assert read_all(whole[:middle] + b"\xff" * 500 + whole[middle:]).startswith(undamaged)


@pytest.mark.parametrize("kind", PACKERS)
def test_a_file_cut_before_its_text_gets_a_sentence(kind: str) -> None:
    with pytest.raises(CompressionError, match="breaks off before anything in it"):
        read_all(PACKERS[kind](LOG)[:12])


@pytest.mark.parametrize("kind", PACKERS)
@given(junk=st.binary(max_size=200), at=st.integers(0, 400))
@settings(max_examples=30, deadline=None)
def test_damage_ends_the_data_or_gets_a_sentence(kind: str, junk: bytes, at: int) -> None:
    packed = PACKERS[kind](PLAIN)
    try:
        read_all(packed[:at] + junk + packed[at + len(junk) :])
    except CompressionError as error:
        assert "is no valid" in str(error)


def test_damage_at_the_beginning_gets_a_sentence() -> None:
    with pytest.raises(CompressionError, match="is no valid xz file"):
        read_all(b"\xfd7zXZ\0" + b"junk" * 20)


def test_a_bomb_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = bz2.compress(b"\0" * 100_000_000)
    monkeypatch.setattr(compression, "_PLENTY", 1_000_000)
    assert len(read_all(bomb)) < 10_000_000


def read_all(packed: bytes) -> bytes:
    stream = decompressed(io.BytesIO(packed))
    return b"".join(iter(lambda: stream.read(100_000) or b"", b""))


def test_utf16_logs_are_read_in_pieces() -> None:
    text = (NOISE * 2).decode() + PLAIN.decode()
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        report = streamed(text.encode(encoding))
        assert report.error is not None
        assert report.error.at == 2 * NOISE_LINES + PLAIN.count(b"\n")


def test_reading_an_endless_stream_holds_little() -> None:
    chunks = (NOISE for _ in range(200))
    tracemalloc.start()
    telling_lines(Chunks(chunks))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000


def test_failures_are_told_each_with_its_count() -> None:
    other = PLAIN.replace(b"Expected all", b"Unexpected all").replace(
        b"RuntimeError", b"ValueError"
    )
    found = failures(NOISE * 2 + PLAIN + NOISE + other + NOISE + PLAIN)
    counts = {seen.report.error.type: seen.times for seen in found if seen.report.error}
    assert counts == {"RuntimeError": 2, "ValueError": 1}
    whole = streamed(NOISE * 2 + PLAIN + NOISE + other + NOISE + PLAIN)
    assert found[0].report.error == whole.error
    assert found[0].line == 2 * NOISE_LINES + PLAIN.count(b"\n")


def test_a_healthy_log_has_no_failures() -> None:
    assert failures(NOISE * 3) == []
