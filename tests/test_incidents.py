"""The five incidents that the project started from, closely: messages, frames, recorded traces.

All incidents are proven in test_every_incident.py, their fixed variants too.
"""

from __future__ import annotations

import re
from functools import cache

import pytest
from traces import record

pytest.importorskip("torch")

# Frames that a reader needs to see the cause, outermost first; of each, the end of the file's path
# and the function.
CAUSE_FRAMES = {
    "adapters-dataparallel": [
        ("torch/nn/parallel/parallel_apply.py", "_worker"),
        ("adapters/methods/adapter_layer_base.py", "compose_stack"),
        ("torch/nn/modules/linear.py", "forward"),
    ],
    "easyedit-memit-delta": [
        ("reproduce.py", "compute_z"),
        ("accelerate/hooks.py", "new_forward"),
        ("reproduce.py", "edit_output_fn"),
    ],
    "llms-from-scratch-out-head": [
        ("reproduce.py", "calc_loss_batch"),
        ("reproduce.py", "forward"),
        ("torch/nn/modules/linear.py", "forward"),
    ],
    "peft-mistral-offloaded": [
        ("accelerate/hooks.py", "new_forward"),
        ("peft/tuners/lora/layer.py", "forward"),
        ("torch/nn/modules/linear.py", "forward"),
    ],
    "qwen-device-map-deepspeed": [
        ("reproduce.py", "training_step"),
        ("accelerate/hooks.py", "new_forward"),
        ("torch/nn/functional.py", "embedding"),
    ],
}
# What the message names, in its order.
DEVICES = {
    "adapters-dataparallel": ["cuda:0", "cuda:1"],
    "easyedit-memit-delta": ["cuda:1", "cuda:0"],
    "llms-from-scratch-out-head": ["cpu", "cuda:0"],
    "peft-mistral-offloaded": ["cuda:0", "cpu"],
    "qwen-device-map-deepspeed": ["cuda:1", "cuda:0"],
}

SLUGS = sorted(CAUSE_FRAMES)

FRAME = re.compile(r'^ *File "([^"]+)", line \d+, in (\S+)', re.MULTILINE)
DEVICE = re.compile(r"\b(?:cuda:\d|cpu)\b")


@cache
def printed_by(slug: str) -> tuple[int, str]:
    """Status and output of the failing variant; each is used by several tests."""
    for name in record.case(slug)["needs"]:
        pytest.importorskip(name)
    result = record.run(slug, "failing")
    return result.returncode, record.neutral(result.stdout)


def frames(text: str) -> list[tuple[str, str]]:
    return FRAME.findall(text)


def shows(trace: list[tuple[str, str]], wanted: list[tuple[str, str]]) -> bool:
    """Whether the trace holds the wanted frames in this order and ends in the last of them."""
    rest = iter(trace)
    in_order = all(any(f.endswith(file) and n == name for f, n in rest) for file, name in wanted)
    return in_order and next(rest, None) is None


def error_line(text: str) -> str:
    """The last line that states an exception; DataParallel prints one error inside another."""
    return [line for line in text.splitlines() if re.match(r"\w*Error: ", line)][-1]


def recorded(slug: str) -> str:
    return (record.HERE / f"{slug}.txt").read_text(encoding="utf-8")


def test_every_trace_belongs_to_an_incident() -> None:
    traces = {path.stem for path in record.HERE.glob("*.txt")}
    assert set(SLUGS) == set(DEVICES) <= traces <= set(record.slugs())


@pytest.mark.parametrize("slug", SLUGS)
def test_failing_variant_dies_of_the_documented_error(slug: str) -> None:
    status, text = printed_by(slug)
    facts = record.case(slug)
    assert status == 1, text
    line = error_line(text)
    assert line.startswith(f"{facts['exception']}: Expected all tensors to be on the same device")
    assert DEVICE.findall(line) == DEVICES[slug]
    assert shows(frames(text), CAUSE_FRAMES[slug]), text


@pytest.mark.parametrize("slug", ["easyedit-memit-delta", "peft-mistral-offloaded"])
def test_message_is_the_documented_one_to_the_letter(slug: str) -> None:
    facts = record.case(slug)
    assert error_line(printed_by(slug)[1]) == f"{facts['exception']}: {facts['message']}"


@pytest.mark.parametrize("slug", SLUGS)
def test_simulator_does_not_show_in_the_trace(slug: str) -> None:
    _, text = printed_by(slug)
    assert not [file for file, _ in frames(text) if "diagnose" in file]
    assert str(record.ROOT) not in text


@pytest.mark.parametrize("slug", SLUGS)
def test_recorded_trace_is_what_the_program_prints_now(slug: str) -> None:
    """Own frames and the error line must be equal; the lines of libraries may move."""

    def essence(text: str) -> tuple[str, list[tuple[str, str]]]:
        own = [frame for frame in frames(text) if frame[0].startswith(record.PROJECT)]
        return error_line(text), own

    assert essence(printed_by(slug)[1]) == essence(recorded(slug))


def test_paths_of_this_machine_become_neutral() -> None:
    program = record.CASES / "easyedit-memit-delta" / "reproduce.py"
    assert record.neutral(f'File "{program}"') == 'File "/home/user/project/reproduce.py"'
    torch = pytest.importorskip("torch")
    assert record.neutral(torch.__file__) == (
        "/opt/conda/envs/train/lib/python3.11/site-packages/torch/__init__.py"
    )
