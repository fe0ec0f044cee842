"""Where a program chooses the device of a model that it quantizes for the host."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source, structures
from diagnose.placement.quantizing import chosen_device
from diagnose.scene.settings import setting

SERVED = """\
def serve(net, name):
    device = torch.device(name)
    net = torch.ao.quantization.quantize_dynamic(net, {nn.Linear})
    return net.to(device)
"""


def _source(text: str) -> Source:
    return Source("/home/u/run.py", text.split("\n"), ast.parse(text))


def test_the_device_is_found_and_is_the_suspect() -> None:
    source = _source(SERVED)
    found = chosen_device(source)
    assert found is not None
    assert (found.line, ast.unparse(found.node), found.function) == (
        2,
        "torch.device(name)",
        "serve",
    )
    said = structures.suspect("quantized-placement", [source], [], [], torch())
    assert said is not None
    assert said.spot.node is found.node


@pytest.mark.parametrize(
    "changed",
    [
        SERVED.replace("quantize_dynamic", "quantize_weights"),
        SERVED.replace("net.to(device)", "net"),
        SERVED.replace("net.to(device)", "net.to('cuda')"),
        SERVED.replace("    device = torch.device(name)\n", "").replace("name", "device"),
        SERVED + SERVED.replace("serve", "other"),
        SERVED.replace("    net = ", "    small = name != 'full'\n    if small:\n        net = "),
    ],
)
def test_nothing_is_said_where_it_is_not_known(changed: str) -> None:
    assert chosen_device(_source(changed)) is None


LOADED = {
    "an option": """\
def packed(net, gpu):
    net.hf_device_map = {"": gpu}
    return net.to(torch.device("cuda", gpu))
options.add_argument("--card", type=int, default=1)  # here
args = options.parse_args()
net = packed(net, args.card)
net, steps = accelerator.prepare(net, steps)
""",
    "a table of the file": """\
PLACES = {"": 1}  # here
net.hf_device_map = PLACES
net, steps = accelerator.prepare(net, steps)
""",
}


@pytest.mark.parametrize("text", LOADED.values(), ids=LOADED)
def test_what_is_trained_on_another_gpu_is_loaded_where_that_is_chosen(text: str) -> None:
    shown = ["net, steps = accelerator.prepare(net, steps)"]
    found = structures.suspect("quantized-placement", [_source(text)], shown, [], torch())
    assert found is not None
    assert found.spot.code.endswith("# here")


def test_one_map_that_a_call_is_given_is_the_calls_own() -> None:
    text = 'net = load("m", device_map={"": args.card})\nnet = accelerator.prepare(net)\n'
    shown = ["net = accelerator.prepare(net)"]
    assert structures.suspect("quantized-placement", [_source(text)], shown, [], torch()) is None


def test_a_map_that_a_function_hands_on_is_set_by_its_caller() -> None:
    text = """\
def load(folder, device_map):
    return AutoModel.from_pretrained(folder, load_in_8bit=True, device_map=device_map)
net = load("m", device_map={"": args.card})
"""
    found = setting("pin-device-map", "quantized-placement", [_source(text)])
    assert found is not None
    assert found.spot.line == 3
