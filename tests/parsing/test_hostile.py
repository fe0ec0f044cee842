"""Whatever comes in: no exception, bounded time and memory."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parsing.knowledge import knowledge, parse

from diagnose.parsing import parse_stream
from diagnose.pipeline import diagnose

FORMS = [path.read_text() for path in sorted(Path(__file__).with_name("forms").glob("*.txt"))]
PLAIN = Path(__file__).with_name("forms").joinpath("cpython.txt").read_text()
PIECES = [
    "Traceback (most recent call last):", '  File "a.py", line 3, in f', "    x = 1", "RuntimeError: boom",
    "│ /a/b.py:3 in f │", "╭─ Traceback (most recent call last) ─╮", "❱ 3 │ x", "----> 3 x", "a.py in f(x)",
    "E   ValueError: x", "a.py:3: ValueError", "> x", "[rank1]: ", "{", '{"log": "x"}', "\\n", "  | ", "+-+---",
    "During handling of the above exception, another exception occurred:", "from user code:", '"""', "\r", "\x1b[0m",
    "&lt;", "<br>", "Original Traceback (most recent call last):", "Cell In[1], line 2", "12: ", "::", "in f",
    "Current thread 0x1 (most recent call first):", "Exception ignored in: x", "KeyError", "\ud800", "\x00",
]  # fmt: skip


@given(st.binary(max_size=400))
@settings(max_examples=200, deadline=None)
def test_any_bytes(data: bytes) -> None:
    assert parse(data, "x").source == "x"


@given(st.text(max_size=400))
@settings(max_examples=200, deadline=None)
def test_any_text(text: str) -> None:
    assert parse(text, "x").source == "x"


@given(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=40),
    st.sampled_from(["\n", "", " "]),
)
@settings(max_examples=400, deadline=None)
def test_any_mixture_of_marks(pieces: list[str], joint: str) -> None:
    report = parse(joint.join(pieces))
    assert report.error is None or report.error.family


@given(st.sampled_from(FORMS), st.integers(0, 4000), st.integers(0, 400), st.text(max_size=5))
@settings(max_examples=200, deadline=None)
def test_any_damage(form: str, start: int, length: int, put: str) -> None:
    report = parse(form[:start] + put + form[start + length :])
    assert report.error is None or report.error.family


HOSTILE = {
    "one long line": "x" * 3_000_000,
    "one long line of marks": 'File "' * 200_000,
    "one long traceback line": 'File "a", line 1, in f ' * 50_000,
    "short lines": "a\n" * 500_000,
    "carriage returns": "\r" * 300_000,
    "open brackets": "[" * 900_000,
    "open braces": '{"a":' * 100_000,
    "quotes": '\\n"' * 200_000,
    "escapes": "\x1b[" * 300_000,
    "entities": "&lt;" * 200_000,
    "pipes": "│ " * 300_000,
    "quoted": "> " * 300_000,
    "blanks": " " * 900_000 + 'File "',
    "dots": "a." * 300_000 + "Error: x",
    "headers": "Traceback (most recent call last):\n" * 60_000,
    "frames": '  File "/a/b.py", line 3, in f\n    x()\n' * 30_000,
    "errors": "RuntimeError: x\n" * 60_000,
    "pytest errors": "E   \n" * 100_000,
    "listings": "  12 x\n" * 100_000,
    "a box of blanks": "╭── Traceback (most recent call last) ──╮\n"
    + ("│" + " " * 19_000 + "x│\n") * 40,
    "documents that do not end": "train-1  | {\n" + 'train-1  |  "a": [\n' * 18_000,
    "blanks of two ranks": "".join(
        f"[rank{n % 2}]: KeyError: x\n[rank0]: {' ' * 19_000}x\n" for n in range(40)
    ),
    "rest of a prefixed line": '[rank0]:   File "/a.py", line 3, in f\n' * 9
    + ("y" * 99 + "\n") * 9_000,
    "soft breaks": "x =3D 1\n" + ("y" * 70 + "=\n") * 12_000,
    "blanks before a plus": '  File "/a.py", line 3, in f   +\n' * 9 + (" " * 19_000 + "x\n") * 40,
    "digits": "1" * 900_000 + ": x",
    "below a frame": '  File "/a/b.py", line 3, in f\n    x()\n' + "~ " * 300_000 + "x",
    "ranks": "".join(f"[rank{n}]: RuntimeError: x\n" for n in range(20_000)),
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", HOSTILE)
def test_time_stays_bounded(name: str) -> None:
    report = parse(HOSTILE[name])
    assert len(report.frames) <= 1000
    assert len(report.context) <= 200
    assert len(report.fallout) <= 32


LINE = "2026-11-21 08:27:18,089 [INFO] trainer: step 1234 loss 0.1234 lr 1e-4 tokens/s 12345\n"


@pytest.mark.parametrize(
    ("found", "error", "lines"),
    [
        (f'{" " * 22}0        File "/home/u/train.py", line 10, in main', "", [10]),
        (
            'Traceback (most recent call last):#012  File "/a.py", line 3, in f#012#019#012RuntimeError: x',
            "RuntimeError",
            [3],
        ),
        (
            "from user code:line <br>RuntimeError\nfrom user code:line <br>RuntimeError: boom",
            "RuntimeError",
            [],
        ),
    ],
)
def test_what_the_fuzzer_found(found: str, error: str, lines: list[int]) -> None:
    """A number far to the right before a frame; no octal number; an error announced twice."""
    report = parse(found)
    assert report.error is not None
    assert report.error.type == error
    assert [frame.line for frame in report.frames] == lines


@pytest.mark.timeout(240)
def test_a_large_log_is_searched_quickly_and_in_little_memory() -> None:
    block = (LINE * 12_000).encode()

    class Log(io.RawIOBase):
        """160 MB that exist only while they are read, with a traceback in the middle."""

        def __init__(self) -> None:
            self.parts = [block] * 80 + [PLAIN.encode()] + [block] * 80
            self.rest = b""

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
            if not self.rest and self.parts:
                self.rest = self.parts.pop(0)
            size = min(len(buffer), len(self.rest))
            buffer[:size], self.rest = self.rest[:size], self.rest[size:]
            return size

    tracemalloc.start()
    report = parse_stream(
        io.BufferedReader(Log()),
        "log",
        knowledge=knowledge(),
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert report.mismatch is not None
    assert report.error is not None
    assert report.error.at == 80 * 12_000 + len(PLAIN.splitlines())
    assert len(report.frames) == 6
    assert peak < 200_000_000


def test_small_streams_are_read_like_bytes() -> None:
    report = parse_stream(
        io.BytesIO(PLAIN.encode()),
        "s",
        knowledge=knowledge(),
    )
    assert report == parse(PLAIN, "s")


@pytest.mark.timeout(60)
def test_a_long_path_and_a_long_formula_are_answered_at_once() -> None:
    """Both took seconds: a pattern that tried every slash, and pairs of operands without bound."""
    long = "/" + "/a" * 8000 + ".py"
    formula = " + ".join(f"self.a{n}[{n}] * b{n}" for n in range(120))
    for file, line in ((long, "y = a + b"), ("a.py", f"y = {formula}")):
        text = PLAIN.splitlines()
        report = "\n".join([text[0], f'  File "{file}", line 3, in f', f"    {line}", text[-1]])
        assert diagnose(report).report.error is not None
