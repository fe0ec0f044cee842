"""The five incidents that the project started from, closely: messages, frames, recorded traces.

All incidents are proven in test_every_incident.py, their fixed variants too.
"""

from __future__ import annotations

import re

import pytest
from forked import simulation
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

#: Those whose message is the documented one to the letter.
TO_THE_LETTER = {"easyedit-memit-delta", "peft-mistral-offloaded"}

SLUGS = sorted(CAUSE_FRAMES)

FRAME = re.compile(r'^ *File "([^"]+)", line \d+, in (\S+)', re.MULTILINE)
DEVICE = re.compile(r"\b(?:cuda:\d|cpu)\b")


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


def test_every_trace_belongs_to_an_incident() -> None:
    traces = {path.stem for path in record.HERE.glob("*.txt")}
    assert set(SLUGS) == set(DEVICES) <= traces <= set(record.slugs())


@pytest.mark.parametrize("slug", SLUGS)
def test_the_failing_variant_dies_as_documented_and_as_recorded(slug: str) -> None:
    facts = record.case(slug)
    for name in facts["needs"]:
        pytest.importorskip(name)
    words = ("--gpus", str(facts["gpus"]), "--wording", "old")
    program = str(record.CASES / slug / "reproduce.py")
    done = simulation(record.ROOT, *words, program, "failing", variables={"HF_HUB_OFFLINE": "1"})
    assert done.returncode == 1, done.stderr
    text = record.neutral(done.stdout + done.stderr)
    line = error_line(text)
    assert line.startswith(f"{facts['exception']}: Expected all tensors to be on the same device")
    assert slug not in TO_THE_LETTER or line == f"{facts['exception']}: {facts['message']}"
    assert DEVICE.findall(line) == DEVICES[slug]
    assert shows(frames(text), CAUSE_FRAMES[slug]), text
    # The simulator does not show.
    assert not [file for file, _ in frames(text) if "diagnose" in file]
    assert str(record.ROOT) not in text
    assert essence(text) == essence((record.HERE / f"{slug}.txt").read_text(encoding="utf-8"))


def essence(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The error line and the program's own frames; the lines of libraries may move."""
    own = [frame for frame in frames(text) if frame[0].startswith(record.PROJECT)]
    return error_line(text), own


def test_paths_of_this_machine_become_neutral() -> None:
    program = record.CASES / "easyedit-memit-delta" / "reproduce.py"
    assert record.neutral(f'File "{program}"') == 'File "/home/user/project/reproduce.py"'
    torch = pytest.importorskip("torch")
    assert record.neutral(torch.__file__) == (
        "/opt/conda/envs/train/lib/python3.11/site-packages/torch/__init__.py"
    )
