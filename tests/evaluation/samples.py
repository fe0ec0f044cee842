"""Labelled reports from the recorded traces, and outcomes made by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diagnose.evaluation.measures import Score
from diagnose.evaluation.runs import Made, Outcome

TRACES = Path(__file__).parents[1] / "traces"
MADE = Made("1.2.3", "0123456789ab")

#: What the traces are, by their own incidents; one label is wrong on purpose.
LABELS: dict[str, dict[str, Any]] = {
    "adapters-dataparallel": {
        "cause": "dataparallel-replica-state",
        "fix_kinds": ["patch-library-line", "upgrade-library", "use-ddp", "single-gpu"],
        "devices": ["cuda:0", "cuda:1"],
        "op": "wrapper_CUDA_addmm",
        "argument": "mat1",
        "certainty": "confirmed",
    },
    "easyedit-memit-delta": {
        "cause": "cross-shard-op",
        "exception": "RuntimeError",
        "innermost": {"file": "reproduce.py", "line": 54, "function": "edit_output_fn"},
        "culprit": {"file": "project/reproduce.py", "line": 54},
        "libraries": ["transformers", "torch"],
    },
    "llms-from-scratch-out-head": {
        "cause": "generator-device",
        "also_ok": ["index-device"],
        "certainty": "inferred",
        "family": "device-placement",
    },
    "peft-mistral-offloaded": {"cause": "meta-tensor", "also_ok": ["offloaded-to-cpu"]},
}
SHAPES = """\
Traceback (most recent call last):
  File "/home/user/project/train.py", line 40, in <module>
    loss = net(batch)
  File "/home/user/project/net.py", line 12, in forward
    return x + self.pe
RuntimeError: The size of tensor a (10) must match the size of tensor b (9) at non-singleton dimension 3
"""


def write(folder: Path, name: str, text: str, label: object) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.txt").write_text(text)
    (folder / f"{name}.json").write_text(json.dumps(label))


def labelled(folder: Path) -> Path:
    """A folder with four traces and a failure of another kind."""
    for name, label in LABELS.items():
        write(folder, name, (TRACES / f"{name}.txt").read_text(), label)
    write(folder, "shapes", SHAPES, {"cause": "not-device", "family": "shape-mismatch"})
    return folder


def outcome(
    name: str,
    accepted: str | Sequence[str],
    *causes: tuple[str, float],
    values: dict[str, float] | None = None,
    **other: Any,
) -> Outcome:
    """An outcome whose scores are those of its causes and of ``values``."""
    names = (accepted,) if isinstance(accepted, str) else tuple(accepted)
    wanted, got = " or ".join(names), ", ".join(cause for cause, _ in causes) or "not-device"
    right = float(got.split(", ")[0] in names)
    if not names:
        scores = {"answered": 1.0}
    elif names == ("not-device",):
        scores = {"answered": 1.0, "negatives-rejected": right}
    else:
        strict = float(bool(causes) and causes[0][0] == names[0])
        scores = {"answered": 1.0, "top-1": right, "top-1-strict": strict}
    return Outcome(
        **{
            "name": name,
            "log": "aaaaaaaaaaaa",
            "label": "bbbbbbbbbbbb",
            "accepted": names,
            "verdict": "diagnosed" if causes else "unknown",
            "causes": causes,
            "scores": tuple(
                Score(measure, value, *((wanted, got) if value < 1 else ()))
                for measure, value in {**scores, **(values or {})}.items()
            ),
            **other,
        }
    )


RUN = (
    outcome("mine/batch", "input-not-moved", ("input-not-moved", 0.97), values={"fix": 1.0}),
    outcome("mine/labels", "input-not-moved", ("created-without-device", 0.62), values={"fix": 0.0}),
    outcome("mine/mask", "input-not-moved", ("created-without-device", 0.55)),
    outcome("mine/table", ("unregistered-tensor", "created-without-device"), ("created-without-device", 0.91)),
    outcome("mine/rank", "rank-device", values={"libraries-f1": 0.5}),
    outcome("mine/head", "submodule-added-after-move", ("module-not-moved", 1.0)),
    outcome("mine/shapes", "not-device"),
    outcome("mine/oom", "not-device", ("offloaded-to-cpu", 0.31)),
    outcome("mine/untitled", ()),
)  # fmt: skip
BEFORE = (
    outcome("mine/batch", "input-not-moved", ("input-not-moved", 0.9), values={"fix": 1.0}),
    outcome("mine/labels", "input-not-moved", ("input-not-moved", 0.5), values={"fix": 0.0}),
    outcome("mine/mask", "input-not-moved", ("created-without-device", 0.55)),
    outcome("mine/table", ("unregistered-tensor", "created-without-device"), ("index-device", 0.5)),
    outcome("mine/rank", "rank-device", values={"libraries-f1": 0.75}),
    outcome("mine/head", "module-not-moved", ("module-not-moved", 1.0), label="cccccccccccc"),
    outcome("mine/shapes", "not-device"),
    outcome("mine/gone", "not-device"),
)  # fmt: skip
