"""The scene: each look at a report is taken once, and is that of an expert."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from diagnose import pipeline
from diagnose.casebase.store import Casebase
from diagnose.model import Carets, Failure, Frame, Knowledge, Mismatch, Report, Statement
from diagnose.pipeline import diagnose
from diagnose.placement import Source
from diagnose.scene import Scene, settings, sourceline
from diagnose.sources import Sources

TRACES = sorted((Path(__file__).parent / "traces" / "causes").glob("*.txt"))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each look is computed, and how many scenes are made."""
    calls: Counter[str] = Counter()

    def counting(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def look(*args: Any, **named: Any) -> Any:
            calls[name] += 1
            return real(*args, **named)

        return look

    for name in ("site", "own", "_peopled", "met", "roles", "strays", "values", "pair"):
        attribute = getattr(Scene, name)
        monkeypatch.setattr(attribute, "func", counting(name, attribute.func))
    monkeypatch.setattr(Scene, "__init__", counting("scenes", Scene.__init__))
    monkeypatch.setattr(pipeline, "values", counting("placeholders", pipeline.values))
    return calls


@pytest.mark.parametrize("path", TRACES[::4], ids=lambda path: path.stem)
def test_each_look_is_taken_at_most_once_an_answer(
    path: Path, counted: Counter[str], casebase: Casebase
) -> None:
    diagnose(path.read_bytes(), casebase=casebase)
    assert counted["scenes"] == 1
    assert max(counted.values()) == 1, counted


def scene(*frames: Frame, devices: tuple[str, ...] = ("cuda:0", "cpu"), **more: Any) -> Scene:
    mismatch = Mismatch(devices, None, None, "torch.tensor_iterator.same_device")
    report = Report("-", Failure("RuntimeError", "m", "device-placement"), mismatch, frames)
    return Scene(report, Knowledge(), **more)


OWN = Frame("train.py", 9, "main", "out = model(ids)")
LIBRARY = Frame("/x/site-packages/peft/a.py", 3, "forward", "y = a + b", library="peft")
TORCH = Frame("/x/site-packages/torch/nn/functional.py", 5, "linear", library="torch")
HOOK = Frame("/x/site-packages/accelerate/hooks.py", 2, "new_forward", library="accelerate")
CHECKOUT = Frame("/home/u/peft/src/a.py", 3, "forward", "y = a + b", library="peft")


@pytest.mark.parametrize(
    ("frames", "edits", "expected"),
    [
        ((OWN, LIBRARY, TORCH), "own", OWN),
        ((OWN, LIBRARY, TORCH), "library", LIBRARY),
        ((OWN, LIBRARY, TORCH), "checkout", OWN),
        ((OWN, CHECKOUT, TORCH), "checkout", CHECKOUT),
        ((LIBRARY, HOOK, TORCH), "own", LIBRARY),
        ((TORCH,), "own", TORCH),
        ((), "own", None),
    ],
)
def test_whose_line_is_to_be_edited(
    frames: tuple[Frame, ...], edits: Any, expected: Frame | None
) -> None:
    place = scene(*frames).line_to_edit(edits)
    assert (place.frame if place else None) is expected


def test_the_same_place_stands_for_the_same_frame() -> None:
    looked = scene(OWN)
    assert looked.site is looked.own is looked.line_to_edit() is looked.place(OWN)
    assert looked.near == (looked.site,)


def test_files_are_read_once_and_named() -> None:
    read: list[str] = []

    def lines(name: str) -> tuple[str, ...]:
        read.append(name)
        return (*["x = 1"] * 8, "out = model(ids)", "")

    looked = scene(OWN, LIBRARY, TORCH, sources=Sources(read=lines))
    assert looked.own is not None and looked.own.statement is not None
    assert looked.own.statement.raw == ("out = model(ids)",)
    assert looked.sources is not None
    assert [file.path for file in looked.sources.used] == ["train.py"]
    for _ in range(3):
        assert looked.place(OWN).line is not None
    assert read.count("train.py") == 1


@pytest.mark.faults
def test_a_file_that_breaks_its_reader_costs_only_the_file() -> None:
    def broken(name: str) -> tuple[str, ...]:
        raise ValueError(name)

    looked = scene(OWN, sources=Sources(read=broken))
    assert looked.own is not None
    assert looked.own.line == sourceline.parse(OWN.code)


def test_machinery_and_generated_code_are_no_place_of_anybodys() -> None:
    generated = Frame("<eval_with_key>.3", 2, "forward", "y = a + b")
    site = scene(OWN, HOOK, generated, TORCH).site
    assert site is not None and site.frame is OWN


def test_a_line_that_is_only_a_comment_has_no_part() -> None:
    carets = Statement("y = f(x)", 3, Carets(0, 4, 0, 8))
    looked = scene(
        Frame("a.py", 3, "main", "y = f(x)", statement=carets),
        Frame("a.py", 9, "f", "# a + b"),
    )
    assert looked.site is not None
    assert looked.site.part is None


def test_a_layer_that_is_called_like_a_function_of_torch_is_a_layer(casebase: Casebase) -> None:
    message = (
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
        " (when checking argument for argument index in method wrapper_CUDA__index_select)"
    )
    mismatch = Mismatch(
        ("cuda:0", "cpu"), "wrapper_CUDA__index_select", "index", "any", "cuda:0", "cpu"
    )
    strays = []
    for code in ("rows = self.embedding(syllables)", "rows = F.embedding(syllables, self.table)"):
        own = Frame("speak.py", 7, "forward", code)
        error = Failure("RuntimeError", message, "device-placement")
        found = Scene(Report("-", error, mismatch, (own, TORCH)), casebase.knowledge)
        strays.append(found.strays)
    assert strays == [("syllables",), ("syllables",)]


@pytest.mark.parametrize("own", [True, False])
def test_what_a_class_offloads_by_itself_is_no_librarys_setting(own: bool) -> None:
    text = "class Pipe:\n    def enable_model_cpu_offload(self): ...\n" if own else ""
    text += "pipe.enable_model_cpu_offload()\n"
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    found = settings.setting("disable-offload", "offloaded-to-cpu", [source])
    assert (found is None) == own


def test_a_map_that_a_function_hands_on_is_set_by_its_caller() -> None:
    text = """\
def load(folder, device_map):
    return AutoModel.from_pretrained(folder, load_in_8bit=True, device_map=device_map)
net = load("m", device_map={"": args.card})
"""
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    found = settings.setting("pin-device-map", "quantized-placement", [source])
    assert found is not None
    assert found.spot.line == 3
