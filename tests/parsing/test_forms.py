"""The recorded forms (record_forms.py): one error, as each tool prints it."""

from __future__ import annotations

from pathlib import Path

import pytest
from parsing.knowledge import parse
from parsing.record_forms import LAST_FRAMES, MESSAGE

from diagnose.model import Frame

RECORDED = Path(__file__).with_name("forms")
#: What some modes of IPython and pytest leave of the frames.
_LAYER = "/opt/conda/envs/train/lib/python3.11/site-packages/peft/tuners/layer.py"
FEW_FRAMES: dict[str, list[tuple[str, int | None, str | None]]] = {
    "ipython-minimal": [],
    "ipython-docs": [("/home/user/proj/train.py", 12, "main()")],
    "ipython-doctest": [],
    "pytest-line": [(_LAYER, 10, None)],
}
FORMS = sorted(path for path in RECORDED.glob("*.txt") if path.stem not in FEW_FRAMES)
#: pretty_errors prints the names of files without their folders.
NAMES_ONLY = {"pretty-errors", "pretty-errors-mono"}
WITHOUT_CODE = {"structlog-dict", "structlog-dict-chained", "frame-summaries", "rich-40"}
#: Before 3.8 a call over several lines was said to stand in its last one.
LAST_LINE_OF_CALL = {"cpython-3.6": 6, "ipython-5-context": 6}
#: What runs the program, and has frames of its own.
LAUNCHERS = {"torch", "ray"}
WITH_THE_RUNNERS_FRAMES = {"pytest-native"}


def place(frame: Frame) -> tuple[str, int | None, str]:
    return frame.file, frame.line, (frame.function or "").split(".")[-1]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_form(path: Path) -> None:
    report = parse(path.read_bytes())
    assert report.error is not None
    assert report.error.type.removeprefix("builtins.") == "RuntimeError"
    assert report.error.family == "device-placement"
    assert report.mismatch is not None
    assert report.mismatch.devices == ("cuda:1", "cpu")
    assert (report.mismatch.op, report.mismatch.argument) == ("wrapper_CUDA_mm", "mat2")
    assert (report.mismatch.expected, report.mismatch.found) == ("cuda:1", "cpu")

    last = [place(frame) for frame in report.frames[-4:]]
    for (file, line, function), (got_file, got_line, got_function) in zip(
        LAST_FRAMES, last, strict=True
    ):
        name = file.rsplit("/", 1)[-1] if path.stem in NAMES_ONLY else file
        assert got_file.replace("\\", "/").endswith(name)
        if name.endswith("layer.py") and function == "forward":
            line = LAST_LINE_OF_CALL.get(path.stem, line)
        assert (got_line, got_function) == (line, function)
    callers = [frame for frame in report.frames[:-4] if frame.own]
    assert callers, "the user's own callers are part of the traceback"
    if path.stem not in WITHOUT_CODE:
        assert report.frames[-4].code == "loss = new_forward(layer, batch)"
        assert report.frames[-3].code == "output = module.forward(*args, **kwargs)"
        if path.stem not in LAST_LINE_OF_CALL:
            assert (report.frames[-2].code or "").startswith("return self.project(")
        assert (report.frames[-1].code or "").startswith("raise RuntimeError(")
    if path.stem not in NAMES_ONLY | WITH_THE_RUNNERS_FRAMES:
        own = tuple(name for name in report.libraries if name not in LAUNCHERS)
        assert own == ("accelerate", "peft")


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_message_is_whole(path: Path) -> None:
    error = parse(path.read_bytes()).error
    assert error is not None
    assert " ".join(error.message.split()).startswith(MESSAGE[:60])


@pytest.mark.parametrize("name", FEW_FRAMES)
def test_modes_that_show_few_frames(name: str) -> None:
    report = parse((RECORDED / f"{name}.txt").read_bytes())
    assert report.error is not None and report.error.type == "RuntimeError"
    assert report.mismatch is not None and report.mismatch.devices == ("cuda:1", "cpu")
    assert (report.mismatch.op, report.mismatch.argument) == ("wrapper_CUDA_mm", "mat2")
    shown = [(frame.file, frame.line, frame.code) for frame in report.frames]
    assert shown == FEW_FRAMES[name]


@pytest.mark.parametrize(
    "head", ["Cell In[3], line 2", "File /home/u/train.py:2", "Input In [3], in <cell line: 2>()"]
)
def test_a_notebooks_own_code_is_a_module(head: str) -> None:
    """IPython 8 and later leave out "in <module>"; the name of a scope in brackets stays."""
    report = parse(
        "Traceback (most recent call last)\n"
        f"{head}\n      1 x = torch.ones(2)\n----> 2 y = x + z\n\nRuntimeError: boom\n"
    )
    [frame] = report.frames
    assert frame.function in {"<module>", "<cell line: 2>"}
    assert (frame.line, frame.code) == (2, "y = x + z")


def test_lines_of_the_input_are_known() -> None:
    text = "noise\n" * 40 + Path(__file__).with_name("forms").joinpath("cpython.txt").read_text()
    report = parse(text)
    lines = text.splitlines()
    assert report.error is not None and report.error.at is not None
    assert lines[report.error.at - 1].startswith("RuntimeError: Expected")
    for frame in report.frames:
        assert frame.at is not None
        assert frame.file in lines[frame.at - 1]


@pytest.mark.parametrize("cut", range(1, 16))
def test_head_cut_off(cut: int) -> None:
    """However much of the beginning is lost, what remains is read."""
    lines = Path(__file__).with_name("forms").joinpath("cpython.txt").read_text().splitlines()
    report = parse("\n".join(lines[cut:]))
    whole = parse("\n".join(lines))
    assert report.mismatch == whole.mismatch
    kept = [place(frame) for frame in report.frames]
    assert kept == [place(frame) for frame in whole.frames][len(whole.frames) - len(kept) :]


def test_end_cut_off() -> None:
    lines = Path(__file__).with_name("forms").joinpath("cpython.txt").read_text().splitlines()
    report = parse("\n".join(lines[:-1]))
    assert [place(frame)[1:] for frame in report.frames[-1:]] == [(10, "project")]
    assert report.error is not None
    # The raise statement is still there to be read.
    assert report.mismatch is not None
    assert report.mismatch.devices == ("cuda:1", "cpu")


@pytest.mark.parametrize(
    ("said", "function"),
    [
        ("line 231, inforward", "forward"),
        ("line 231,in forward", "forward"),
        ("line231, in forward", "forward"),
        ("line 231, in<module>", "<module>"),
        ("line 231, inLinear.forward", "Linear.forward"),
        ("line 231, in inner", "inner"),
        ("line 231", None),
    ],
)
def test_a_blank_lost_on_the_way_costs_no_frame(said: str, function: str | None) -> None:
    report = parse(
        f'Traceback (most recent call last):\n  File "/home/u/net.py", {said}\n    y = self.fc(x)\n'
        "RuntimeError: Expected all tensors to be on the same device\n"
    )
    assert [(f.line, f.function, f.code) for f in report.frames] == [
        (231, function, "y = self.fc(x)")
    ]
