"""kb/messages.toml: every wording is recognised, by its own entry, and look-alikes are not."""

from __future__ import annotations

from typing import Any

import pytest
import regex
from parsing.knowledge import KB, parse, wordings

from diagnose._toml import loads
from diagnose.compiling.literals import required
from diagnose.parsing.messages import Wordings

ENTRIES: list[dict[str, Any]] = loads((KB / "messages.toml").read_text())["wording"]
EXAMPLES = [(entry["id"], example) for entry in ENTRIES for example in entry["examples"]]
READER = Wordings(wordings())


def test_there_are_all_of_them() -> None:
    assert len(ENTRIES) > 255
    assert len(EXAMPLES) > 300


def test_each_example_is_recognised_by_its_own_entry() -> None:
    readings = [(entry, example, READER.read(example)) for entry, example in EXAMPLES]
    assert [
        (entry, example)
        for entry, example, reading in readings
        if reading is None or reading.wording.id != entry
    ] == []


def test_literals_stand_in_all_that_matches() -> None:
    """Whatever example any pattern matches, one of its literals is in it: the quick test loses nothing."""
    texts = [" ".join(example.split()) for _, example in EXAMPLES]
    for wording in wordings():
        needed = required(wording.pattern)
        for text in filter(regex.compile(wording.pattern).search, texts):
            assert any(literal in text for literal in wording.literals), (wording.id, text)
            folded = text.casefold()
            assert all(any(x in folded for x in group) for group in needed), (wording.id, text)


@pytest.mark.parametrize(
    ("message", "devices", "op", "argument"),
    [
        ("Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! (when "
         "checking argument for argument index in method wrapper_CUDA__index_select)",
         ("cuda:0", "cpu"), "wrapper_CUDA__index_select", "index"),
        ("Expected all tensors to be on the same device, but got mat1 is on cpu, different from other tensors on "
         "cuda:0 (when checking argument in method wrapper_CUDA_addmm)",
         ("cpu", "cuda:0"), "wrapper_CUDA_addmm", "mat1"),
        ("Expected all tensors to be on the same device, but found at least two\n devices, cuda:0 and cpu!",
         ("cuda:0", "cpu"), None, None),
        ("Expected a 'cuda' device type for generator but found 'cpu'", ("cuda", "cpu"), None, "generator"),
        ("Expected object of backend CUDA but got backend CPU for argument #2 'weight'",
         ("CUDA", "CPU"), None, "weight"),
        ("Tensor for 'out' is on CPU, Tensor for argument #1 'self' is on CPU, but expected them to be on GPU "
         "(while checking arguments for addmm)", ("CPU", "GPU"), "addmm", "self"),
        ("Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at "
         "cpu", ("cuda:0", "cpu"), None, "hidden"),
        ("can’t convert cuda:0 device type tensor to numpy. Use Tensor.cpu()", ("cuda:0",), None, None),
        ("Cannot copy out of meta tensor; no data!", ("meta",), None, None),
        ("expected self and mask to be on the same device, but got mask on cuda:7 and self on cuda:0",
         ("cuda:7", "cuda:0"), None, "mask"),
        ("Dynamo failed to run FX node with fake tensors: call_function <built-in function add>(*(FakeTensor(..., "
         "size=(2,)),), **{}): got RuntimeError('Unhandled FakeTensor Device Propagation for aten.add.Tensor, "
         "found two different devices cuda:0, cpu')", ("cuda:0", "cpu"), "aten.add.Tensor", None),
        ("Caught RuntimeError in replica 1: Expected all tensors to be on the same device, but found at least two "
         "devices, npu:0 and cpu!", ("npu:0", "cpu"), None, None),
        ("FSDP only supports single device modules but got params on {device(type='cuda', index=0), "
         "device(type='cpu')}", ("cuda:0", "cpu"), None, None),
    ],
)  # fmt: skip
def test_what_is_said(
    message: str, devices: tuple[str, ...], op: str | None, argument: str | None
) -> None:
    mismatch = parse(f"RuntimeError: {message}").mismatch
    assert mismatch is not None
    assert (mismatch.devices, mismatch.op, mismatch.argument) == (devices, op, argument)


@pytest.mark.parametrize("end", range(60, 175, 5))
def test_cut_messages_are_still_device_errors(end: int) -> None:
    message = (
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 "
        "and cpu! (when checking argument for argument mat1 in method wrapper_CUDA_addmm)"
    )[:end]
    report = parse(message)
    assert report.error is not None
    assert report.error.family == "device-placement"
    assert report.mismatch is not None
    assert set(report.mismatch.devices) <= {"cuda:0", "cpu"}


OPENINGS = [
    (entry["exception"], literal)
    for entry in ENTRIES
    if entry.get("device_error", True)
    for literal in entry["literals"]
    if len(literal) >= 40
    and any(" ".join(e.split()).startswith(literal) for e in entry["examples"])
]


@pytest.mark.parametrize("behind", ["", "...", "…", "\nplain text of the program"])
def test_a_message_cut_in_the_middle_of_a_wording_is_a_device_error(behind: str) -> None:
    """Nothing else that is known begins like the first forty characters of a device wording."""
    assert OPENINGS
    for exception, opening in OPENINGS:
        report = parse(
            'Traceback (most recent call last):\n  File "train.py", line 7, in main\n    step(x)\n'
            f"{exception}: {opening[:40].rstrip()}{behind}\n"
        )
        assert report.error is not None, opening
        assert report.error.family == "device-placement", opening
        assert report.mismatch is not None, opening


@pytest.mark.parametrize("end", range(12, 60))
def test_a_few_words_of_the_commonest_wording_are_enough(end: int) -> None:
    message = "Expected all tensors to be on the same device, but got mat1 is on cpu"[:end]
    error = parse(f"RuntimeError: {message}").error
    assert error is not None
    assert error.family == "device-placement"


@pytest.mark.parametrize(
    "message", ["Tensors must", "Tensors must be", "RuntimeError: Tensors must be C"]
)
def test_the_refusal_of_nccl_cut_short(message: str) -> None:
    report = parse(f'Traceback (most recent call last):\n  File "t.py", line 1, in f\n{message}\n')
    assert report.error is not None
    assert (report.error.family, report.error.type) == ("device-placement", "RuntimeError")


def test_the_last_line_of_a_log_may_be_cut_too() -> None:
    said = "Expected all tensors to be on th"
    assert parse(f"step 1\n{said}").error is not None
    assert parse(f"{said}\nstep 2: all is well\n").error is None
    assert parse(f"step 1\nI {said}").error is None


@pytest.mark.parametrize(
    "message",
    [
        "RuntimeError: Expected object of",  # "of scalar type" is a difference of dtype
        "RuntimeError: Input type (torch.cuda.FloatTensor) and",
        "TypeError: can't convert np",
        "RuntimeError: Tensors must have same",
        "ValueError: Expected a list",
        "ValueError: Expected",
        "RuntimeError: NaN or Inf found in input tensor",
        "RuntimeError: Expected all the rows to be sorted",
    ],
)
def test_a_beginning_that_others_share_says_nothing(message: str) -> None:
    report = parse(message)
    assert report.mismatch is None
    assert report.error is not None
    assert report.error.family != "device-placement"


def test_a_message_that_has_the_last_words_of_a_wording_is_not_cut() -> None:
    said = "Expected is_wide || is_even to be true, but got false."
    report = parse(f"RuntimeError: {said}")
    assert report.mismatch is None
    assert report.error is not None
    assert report.error.family != "device-placement"


def test_a_device_at_the_cut_is_not_told() -> None:
    said = "Expected object of device type cuda but got device type cp"
    mismatch = parse(f"RuntimeError: {said}").mismatch
    assert mismatch is not None
    assert mismatch.devices == ("cuda",)


def _shouted(message: str) -> str:
    return message[:1].swapcase() + message[1:]


def _quoted_otherwise(message: str) -> str:
    return message.translate(str.maketrans({"'": "`", "`": "'", '"': "'"}))


@pytest.mark.parametrize("change", [_shouted, _quoted_otherwise])
def test_copies_with_other_capitals_or_quotes_are_the_same_wording(change: Any) -> None:
    """Libraries repeat torch's sentences with a small letter first, or with quotes of their own: where a
    literal is long enough to be looked for in any case."""
    literals = {entry["id"]: [x for x in entry["literals"] if len(x) >= 12] for entry in ENTRIES}
    changed = 0
    for entry, example in EXAMPLES:
        if any(x in " ".join(example.split()) for x in literals[entry]):
            changed += 1
            before, after = READER.read(example), READER.read(change(example))
            assert before is not None, example
            assert after is not None, example
            assert after.wording.device_error == before.wording.device_error, example
    assert changed > 300


@pytest.mark.parametrize(
    "message",
    [
        "AssertionError: All tensors must be on the same device",
        "RuntimeError: Expected all tensors to be on same device",
        "ValueError: both `src` and `index` must be on the same device (got `cuda:0` and `cpu`)",
        "AssertionError: model and inputs should be on the same GPU device",
        "ValueError: The two inputs are on different devices",
        "ValueError: Passing along a `device_map` requires `low_cpu_mem_usage=True`",
        "ValueError: `.to` is not supported for 4-bit bitsandbytes models.",
        "RuntimeError: NCCL error: unhandled cuda error, Last error: Cuda failure 'invalid device ordinal'",
    ],
)
def test_what_libraries_say_in_words_of_their_own(message: str) -> None:
    error = parse(message).error
    assert error is not None
    assert error.family == "device-placement"


def test_a_line_of_advice_is_no_error() -> None:
    assert parse("make sure that both tensors are on the same device\nstep 1\n").error is None


@pytest.mark.parametrize(
    "message",
    [
        "Input type (torch.cuda.FloatTensor) and weight type (torch.cuda.HalfTensor) should be the same",
        "Input type (float) and bias type (c10::Half) should be the same",
        "Input type (MPSFloatType) and weight type (MPSHalfType) should be the same",
        "expected scalar type Float but found Half",
        "mat1 and mat2 must have the same dtype, but got Float and Half",
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
        "torch.cuda.FloatTensor instead (while checking arguments for embedding)",
        "Function MulBackward0 returned an invalid gradient at index 1 - expected type torch.cuda.HalfTensor but "
        "got torch.cuda.FloatTensor",
        "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity)",
        "CUDA error: device-side assert triggered",
        "CUDA error: invalid device function",
        "mat1 and mat2 shapes cannot be multiplied (1x64 and 32x2)",
        "\"addmm_impl_cpu_\" not implemented for 'Half'",
        "No CUDA GPUs are available",
    ],
)
def test_look_alikes_are_no_placement_errors(message: str) -> None:
    report = parse(f"RuntimeError: {message}")
    assert report.mismatch is None or report.mismatch.says == ("no-gpu",)  # the files may tell more
    assert report.error is not None
    assert report.error.family not in ("device-placement", "other")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "unit", ["Expected ", "device ", "{", "a.b", "TensorOptions(dtype=a, device=b,(", "call_"]
)
def test_no_pattern_runs_away(unit: str) -> None:
    stem = max((example for _, example in EXAMPLES), key=len)
    assert READER.read(stem[:60] + unit * 2000 + stem[60:]) is None
