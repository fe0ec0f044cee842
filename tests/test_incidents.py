"""The documented incidents: each program fails as documented, and runs with the documented fix."""

from __future__ import annotations

import re
from functools import cache

import pytest
from traces import record

pytest.importorskip("torch")

SLUGS = record.slugs()

# Where each mistake shows: the function of the program, or of the library, that a reader must find
# in the trace, and the devices that meet there.
CULPRITS = {
    "adapters-dataparallel": ("compose_stack", {"cuda:0", "cuda:1"}),
    "easyedit-memit-delta": ("edit_output_fn", {"cuda:0", "cuda:1"}),
    "llms-from-scratch-out-head": ("calc_loss_batch", {"cpu", "cuda:0"}),
    "peft-mistral-offloaded": ("forward", {"cpu", "cuda:0"}),
    "qwen-device-map-deepspeed": ("embedding", {"cuda:0", "cuda:1"}),
}

FRAME = re.compile(r'^ *File "([^"]+)", line \d+, in (\S+)', re.MULTILINE)
DEVICE = re.compile(r"\b(?:cuda:\d|cpu)\b")


@cache
def printed_by(slug: str, variant: str) -> tuple[int, str]:
    """Status and output of one run; each is used by several tests."""
    for name in record.case(slug)["needs"]:
        pytest.importorskip(name)
    result = record.run(slug, variant)
    return result.returncode, record.neutral(result.stdout)


def frames(text: str) -> list[tuple[str, str]]:
    return FRAME.findall(text)


def error_line(text: str) -> str:
    """The last line that states an exception; DataParallel prints one error inside another."""
    return [line for line in text.splitlines() if re.match(r"\w*Error: ", line)][-1]


def recorded(slug: str) -> str:
    return (record.HERE / f"{slug}.txt").read_text(encoding="utf-8")


def test_every_incident_has_a_program_a_trace_and_a_culprit() -> None:
    traces = {path.stem for path in record.HERE.glob("*.txt")}
    assert set(SLUGS) == set(CULPRITS)
    assert set(SLUGS) <= traces


@pytest.mark.parametrize("slug", SLUGS)
def test_failing_variant_dies_of_the_documented_error(slug: str) -> None:
    status, text = printed_by(slug, "failing")
    function, devices = CULPRITS[slug]
    facts = record.case(slug)

    assert status == 1, text
    line = error_line(text)
    assert line.startswith(f"{facts['exception']}: Expected all tensors to be on the same device")
    assert set(DEVICE.findall(line)) == devices
    assert function in {name for _, name in frames(text)}
    assert facts.get("op", "") in line
    assert facts.get("argument", "") in line


@pytest.mark.parametrize("slug", ["easyedit-memit-delta", "peft-mistral-offloaded"])
def test_message_is_the_documented_one_to_the_letter(slug: str) -> None:
    facts = record.case(slug)
    assert error_line(printed_by(slug, "failing")[1]) == f"{facts['exception']}: {facts['message']}"


@pytest.mark.parametrize("slug", SLUGS)
def test_simulator_does_not_show_in_the_trace(slug: str) -> None:
    _, text = printed_by(slug, "failing")
    assert not [file for file, _ in frames(text) if "diagnose" in file]
    assert str(record.ROOT) not in text


@pytest.mark.parametrize("slug", SLUGS)
def test_fixed_variant_runs_to_its_end(slug: str) -> None:
    status, text = printed_by(slug, "fixed")
    assert status == 0, text
    assert text.splitlines()[-1] == "fixed: ok"


@pytest.mark.parametrize("slug", SLUGS)
def test_recorded_trace_is_what_the_program_prints_now(slug: str) -> None:
    """Own frames and the error line must be equal; the lines of libraries may move."""

    def essence(text: str) -> tuple[str, list[tuple[str, str]]]:
        own = [frame for frame in frames(text) if frame[0].startswith(record.PROJECT)]
        return error_line(text), own

    assert essence(printed_by(slug, "failing")[1]) == essence(recorded(slug))


def test_paths_of_this_machine_become_neutral() -> None:
    program = record.CASES / "easyedit-memit-delta" / "reproduce.py"
    assert record.neutral(f'File "{program}"') == 'File "/home/user/project/reproduce.py"'
    torch = pytest.importorskip("torch")
    assert record.neutral(torch.__file__) == (
        "/opt/conda/envs/train/lib/python3.11/site-packages/torch/__init__.py"
    )
