"""kb/grammar.toml: what its forms read, what they leave alone, and that no text takes them long."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parsing.knowledge import KB, grammar, parse

from diagnose._toml import loads
from diagnose.parsing.grammar import LONGEST, Reader

DOCUMENT: dict[str, Any] = loads((KB / "grammar.toml").read_text(encoding="utf-8"))
READER = Reader(grammar())
EXAMPLES = [(form["id"], example) for form in DOCUMENT["form"] for example in form["examples"]]


def test_each_example_is_read_by_its_own_form() -> None:
    read = [(form, example, READER.read(example)) for form, example in EXAMPLES]
    wrong = [x for x in read if x[2] is None or x[2].wording != f"grammar:{x[0]}"]
    assert not wrong
    assert len(read) > 40


def test_other_failures_and_advice_are_not_read() -> None:
    assert [text for text in DOCUMENT["others"] if READER.read(text) is not None] == []
    assert len(DOCUMENT["others"]) > 10


@pytest.mark.parametrize(
    ("message", "devices", "argument", "expected", "found"),
    [
        ("`topk` must be on cuda:0, got cpu", ("cuda:0", "cpu"), "topk", "cuda:0", "cpu"),
        ("Tensor for q_scale is on CPU, but expected it to be on GPU", ("CPU", "GPU"), "q_scale", "GPU", "CPU"),
        ("page_table must be on the same device as q", (), "page_table", None, None),
        ("q_scale and k_scale must be on the same device", (), None, None, None),
        ("this plan was built on cuda:1, but the input is on cpu", ("cuda:1", "cpu"), None, "cuda:1", "cpu"),
        ("qdata on cuda:0 but scale on cpu", ("cuda:0", "cpu"), None, None, None),
        ("need the same device, got device(type='cuda', index=1) and device(type='cpu')",
         ("cuda:1", "cpu"), None, None, None),
        ("q and k must share a device, got q=cuda:0, k=cpu. Move k to cuda:0. Or use cuda:1.",
         ("cuda:0", "cpu"), None, None, None),
        ("x_s is on cuda:1, which is not the current accelerator (cuda:0)",
         ("cuda:1", "cuda:0"), None, "cuda:0", "cuda:1"),
    ],
)  # fmt: skip
def test_what_a_form_says(
    message: str,
    devices: tuple[str, ...],
    argument: str | None,
    expected: str | None,
    found: str | None,
) -> None:
    mismatch = READER.read(message)
    assert mismatch is not None
    assert mismatch.formed
    assert mismatch.devices == devices
    assert (mismatch.argument, mismatch.expected, mismatch.found) == (argument, expected, found)


def test_an_exception_of_no_listed_wording_is_a_device_error() -> None:
    report = parse("ValueError: qdata on cuda:0 but scale on cpu")
    assert report.error is not None
    assert report.error.family == "device-placement"
    assert report.mismatch is not None
    assert report.mismatch.wording == "grammar:apart"


def test_a_listed_wording_goes_first() -> None:
    told = parse("RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
                 "cuda:0 and cpu!").mismatch  # fmt: skip
    assert told is not None
    assert not told.formed


def test_a_failure_of_another_kind_stays_one() -> None:
    said = "CUDA out of memory: qdata on cuda:0 but scale on cpu"
    error = parse(f"RuntimeError: {said}").error
    assert error is not None
    assert error.family == "gpu-out-of-memory"


@pytest.mark.parametrize(
    "text",
    [
        "qdata on cuda:0 but scale on cpu",
        "ours.py:3: UserWarning: qdata on cuda:0 but scale on cpu\n  warnings.warn(said)\nepoch 1",
    ],
)
def test_only_an_exception_is_read(text: str) -> None:
    assert parse(text).mismatch is None


WORDS = sorted({word for _, example in EXAMPLES for word in example.split()})


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=60), st.integers(1, 200))
def test_no_row_of_words_takes_long(words: list[str], times: int) -> None:
    """Words of device messages in any order, many times over: a backtracking form would not come back."""
    told = READER.read(" ".join(words * times))
    assert told is None or told.formed


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    told = READER.read(f"device {text}")
    assert told is None or told.formed


def test_a_long_message_is_read_in_its_first_part_only() -> None:
    assert READER.read("word " * LONGEST + EXAMPLES[0][1]) is None
