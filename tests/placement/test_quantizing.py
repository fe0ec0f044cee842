"""Where a program chooses the device of a model that it quantizes for the host."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source, structures
from diagnose.placement.quantizing import chosen_device

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
