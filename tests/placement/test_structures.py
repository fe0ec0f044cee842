"""The one place that has the form of a cause, where no meeting of values explains a failure."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source, syntax_patterns

#: Name -> the cause, the expression for the wanted device, and a file; ``# here`` ends the line to edit.
FORMS = {
    "what a model is exported with": (
        "fake-or-compile-device",
        "next(net.eval().parameters()).device",
        """\
def save(net, path):
    sample = torch.rand(1, 4)  # here
    other = torch.rand(1, 4)
    torch.export.save(torch.export.export(net.eval(), (sample,)), path)
""",
    ),
    "a parametrization that is hung on a weight": (
        "submodule-added-after-move",
        "layer.bias.device",
        """\
def limit(net):
    for layer in net.children():
        register_parametrization(layer, "bias", Bounded(2))  # here
""",
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_tells_the_line_and_the_device(name: str) -> None:
    cause, device, text = FORMS[name]
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    found = syntax_patterns.suspect(cause, [source], [], [], torch())
    assert found is not None
    assert (found.spot.code.endswith("# here"), found.devices) == (True, (device,))


def test_what_is_exported_with_a_tensor_on_a_device_is_not_suspected() -> None:
    text = FORMS["what a model is exported with"][2].replace("4)  # here", "4, device='cuda')")
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    assert syntax_patterns.suspect("fake-or-compile-device", [source], [], [], torch()) is None


HOST_OPTIMIZER = """\
import dataclasses
from deepspeed.ops.adagrad import {name}

@dataclasses.dataclass
class Hyper:
    on_host: bool = True  # here

def optimizer(weights, h):
    return {name}(weights) if h.on_host else Adagrad(weights)
"""


@pytest.mark.parametrize("name", ["DeepSpeedCPUAdagrad", "DeepSpeedCPULion", "FusedAdagrad"])
def test_an_optimizer_of_the_host_is_turned_off_where_a_field_asks_for_it(name: str) -> None:
    text = HOST_OPTIMIZER.format(name=name)
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    found = syntax_patterns.suspect("zero-offload", [source], [], [], torch())
    lines = [found.spot.code] if found is not None else []
    assert lines == ([] if name == "FusedAdagrad" else ["on_host: bool = True  # here"])


#: Name -> the cause, and a file; ``# here`` ends the line to edit, where the cause has one.
LEFT_ON_THE_HOST = {
    "state that is given to a weight as it was kept": (
        "optimizer-state",
        """\
def resume(opt, rows):
    for p, row in zip(opt.param_groups[0]["params"], rows):
        opt.state[p] = row  # here
""",
    ),
    "state that is made anew, value by value": (
        "optimizer-state",
        """\
def resume(opt, rows):
    for p, row in zip(opt.param_groups[0]["params"], rows):
        opt.state[p]["step"] = float(row["step"])
        opt.state[p] = {k: v.to(p.device) for k, v in row.items()}
""",
    ),
    "state that is given to a weight as a copy of what was kept": (
        "optimizer-state",
        """\
class Undo:
    def back(self):
        for w, held in zip(self.weights, self.saved):
            self.opt.state[w] = copy.deepcopy(held)  # here
""",
    ),
    "state that is given to a weight as copies of its values": (
        "optimizer-state",
        """\
for w in weights:
    opt.state[w] = {k: v.clone() if torch.is_tensor(v) else v for k, v in saved[w].items()}  # here
""",
    ),
    "state that is put value by value as it was kept": (
        "optimizer-state",
        """\
for w, held in zip(weights, saved):
    opt.state[w]["step"] = held["step"]
    opt.state[w]["exp_avg"] = held["mean"]  # here
""",
    ),
    "state that is brought up to date with what was kept": (
        "optimizer-state",
        """\
for w, held in zip(weights, saved):
    opt.state[w].update(held.copy())  # here
""",
    ),
    "state that a function of the user's gives": (
        "optimizer-state",
        """\
for w, held in zip(weights, saved):
    opt.state[w] = onto(held, w.device)
    opt.state[w].update(fresh(held))
    opt.state[w]["exp_avg"] = held["mean"].to(w.device)
""",
    ),
    "a loader that shuffles where all is made on the GPU": (
        "generator-device",
        """\
torch.set_default_device("cuda")
loader = DataLoader(rows, shuffle=True)  # here
test = DataLoader(rows)
""",
    ),
    "a loader that shuffles, and a generator": (
        "generator-device",
        """\
loader = DataLoader(rows, shuffle=True)
seeded = torch.Generator()  # here
""",
    ),
    "a loader that is given its generator": (
        "generator-device",
        "loader = DataLoader(rows, shuffle=True, generator=seeded)\n",
    ),
}


@pytest.mark.parametrize("name", LEFT_ON_THE_HOST)
def test_what_is_left_on_the_host(name: str) -> None:
    cause, text = LEFT_ON_THE_HOST[name]
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    found = syntax_patterns.suspect(cause, [source], [], [], torch())
    wanted = [line.strip() for line in source.lines if line.endswith("# here")]
    assert ([found.spot.code] if found is not None else []) == wanted


ON_META = """\
def serve(folder):
    net = Tuned.from_pretrained(base(), folder, low_cpu_mem_usage=True)
    return net.to(device)
def main():
    net = {made}  # here
    net.to(device)
if ready:
    net = Other.from_pretrained("m", low_cpu_mem_usage=True)  # there
"""


@pytest.mark.parametrize(
    ("made", "function", "ends"),
    [
        ("Tuned.from_pretrained(base(), 'm', low_cpu_mem_usage=True)", "main", "# here"),
        ("Tuned.from_pretrained(base(), 'm', low_cpu_mem_usage=True)", "<module>", "# there"),
        ("peft.get_peft_model(base(), plan, low_cpu_mem_usage=True)", "", "# here"),
        ("peft.get_peft_model(base(), plan)", "", None),
        ("Tuned.from_pretrained(base(), 'm', low_cpu_mem_usage=True)", "", None),
    ],
)
def test_of_several_models_on_meta_it_is_the_one_of_the_traceback_or_one_that_nothing_fills(
    made: str, function: str, ends: str | None
) -> None:
    text = ON_META.format(made=made)
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    found = syntax_patterns.suspect(
        "meta-tensor", [source], ["net.to(device)"], [function], torch()
    )
    assert (found.spot.code.rpartition("  ")[2] if found is not None else None) == ends
