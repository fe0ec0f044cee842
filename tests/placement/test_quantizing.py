"""Where a program chooses the device of a model that it quantizes for the host."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source, structures
from diagnose.placement.quantizing import chosen_device, condition, left_on_gpu, told_in_call
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


PACKED = """\
def packed(net):
    return quantize_dynamic(net.eval(), {nn.GRU})
class Desk:
    def __init__(self, net, how):
        self.place = find_place()
        self.net = WAYS[how](net).to(self.place)
WAYS = {"plain": plain, "packed": packed}
"""


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        (PACKED, 'how == "packed"'),
        (PACKED.replace("WAYS[how]", "packed"), None),
        (PACKED.replace("return quant", "small = quant") + "", ""),
        (
            PACKED.replace(
                "    return quantize",
                "    if net is None:\n        return None\n    return quantize",
            ),
            "",
        ),
        (PACKED.replace('"plain": plain', '"tiny": packed'), ""),
        (PACKED.replace("WAYS[how]", "WAYS['plain']"), ""),
        (PACKED + "net = packed(net)\n", ""),
    ],
)
def test_a_function_that_quantizes_is_asked_for_by_its_table(
    changed: str, test: str | None
) -> None:
    source = _source(changed)
    found = chosen_device(source)
    assert (found is not None) == (test != "")
    assert found is None or (ast.unparse(found.node), condition(source)) == ("find_place()", test)


TAUGHT = """\
class Ear:
    def __init__(self, net, place):
        self.net = net.to(place)
def main(small):
    place = torch.device("cuda")
    net = Net()
    loss = teach(net, place)
    net = quantize_dynamic(net.cpu(), {nn.Linear})
    ear = Ear(net, place)
    print(ear)
"""


def test_a_device_that_was_used_before_is_left_for_the_host() -> None:
    source = _source(TAUGHT)
    found = left_on_gpu(source)
    assert found is not None
    assert (found.spot.line, found.device) == (8, "place")
    said = structures.suspect("quantized-placement", [source], [], [], torch())
    assert said is not None
    assert said.spot.line == 8


@pytest.mark.parametrize(
    "changed",
    [
        TAUGHT.replace("    loss = teach(net, place)\n", ""),
        TAUGHT.replace("print(ear)", "print(ear, loss)"),
        TAUGHT.replace("net.to(place)", "net"),
        TAUGHT.replace("Ear(net, place)", "Ear(net, 'cpu')"),
        TAUGHT.replace("    loss", "    place = torch.device('cuda:1')\n    loss"),
    ],
)
def test_a_device_of_what_is_used_later_is_not_changed(changed: str) -> None:
    assert left_on_gpu(_source(changed)) is None


BESIDE = """\
PLACE = torch.device("cuda")
def timed(net, place):
    net.to(place)
def main(net):
    timed(net, PLACE)
    small = quantize_dynamic(net.cpu(), {nn.Linear})
    timed(small, PLACE)
"""


def test_a_call_that_hands_on_a_quantized_model_tells_where_it_is_moved() -> None:
    source = _source(BESIDE)
    found = told_in_call(source)
    assert found is not None
    assert (found.line, ast.unparse(found.node)) == (7, "PLACE")
    said = structures.suspect("quantized-placement", [source], [], [], torch())
    assert said is not None
    assert said.spot.node is found.node


@pytest.mark.parametrize(
    "changed",
    [
        BESIDE.replace("small, PLACE", "small, 'cpu'"),
        BESIDE.replace("    net.to(place)", "    net(place)"),
        BESIDE + "    timed(small, OTHER)\n",
        BESIDE.replace("small = quantize_dynamic(net.cpu(), {nn.Linear})", "small = net"),
        BESIDE.replace("timed(small, PLACE)", "small.to(PLACE)"),
    ],
)
def test_no_argument_is_told_where_several_move_a_quantized_model_or_none(changed: str) -> None:
    assert told_in_call(_source(changed)) is None


REGISTERED = """\
WAYS = {}
def way(name):
    return lambda function: WAYS.setdefault(name, function)
@way("packed")
def packed(net):
    return quantize_dynamic(net, {nn.GRU})
class Desk:
    def __init__(self, net, how):
        self.place = find_place()
        self.net = WAYS[how](net).to(self.place)
"""


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        (REGISTERED, 'how == "packed"'),
        (REGISTERED.replace("setdefault(name, function)", "get(name)"), ""),
        (REGISTERED.replace('@way("packed")', "@way(NAME)"), ""),
        (REGISTERED.replace('@way("packed")', '@elsewhere("packed")'), ""),
    ],
)
def test_a_function_that_quantizes_is_asked_for_by_the_table_of_its_decorator(
    changed: str, test: str
) -> None:
    source = _source(changed)
    found = chosen_device(source)
    assert (found is not None) == (test != "")
    assert found is None or (ast.unparse(found.node), condition(source)) == ("find_place()", test)


ASKED = """\
def build(size, how, fast=False):
    net = Net(size)
    if how == "tiny":
        net = quantize_dynamic(net, {nn.LSTM})
    return net
class Desk:
    def __init__(self, args):
        self.place = find_place()
        self.net: Answers = build(3, how=args.how).to(self.place)
"""


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        (ASKED, 'args.how == "tiny"'),
        (ASKED.replace("net = quantize", "return quantize"), 'args.how == "tiny"'),
        (
            ASKED.replace('if how == "tiny":', "if how != 3:\n        pass\n    else:"),
            "not args.how != 3",
        ),
        (
            """\
def build(net, small):
    return quantize_dynamic(net, {nn.GRU}) if small else net
def main(net, tiny):
    place = find_place()
    net = build(net, tiny)
    net.to(place)
""",
            "tiny",
        ),
        (ASKED.replace("how=args.how", "how='tiny'"), ""),  # asked of nothing that has a name
        (ASKED.replace("how=args.how", ""), ""),
        (ASKED.replace("    net = Net(size)", "    how = how.lower()\n    net = Net(size)"), ""),
        (ASKED.replace('if how == "tiny"', "if supports(net)"), ""),
        (ASKED.replace("return net", "return Net(size)"), ""),
        (ASKED + "net = build(2, 'tiny')\n", ""),
        (ASKED.replace("find_place()", "find_place(build)").replace("build(3", "made(3"), ""),
    ],
)
def test_a_function_that_quantizes_under_a_condition_is_asked_for_it(
    changed: str, test: str
) -> None:
    source = _source(changed)
    found = chosen_device(source)
    assert (found is not None) == (test != "")
    assert found is None or (ast.unparse(found.node), condition(source)) == ("find_place()", test)


HANDED = """\
def pressed(net):
    small = quantize_dynamic(net.cpu(), {nn.Linear})
    return small
class Till:
    def __init__(self, net, place):
        self.place = place
        self.net = net.to(self.place)
def main(net):
    place = torch.device("cuda")
    teach(net, place)
    till = Till(pressed(net), place=place)
"""


@pytest.mark.parametrize(
    "changed",
    [HANDED, HANDED.replace("pressed(net), place=place", "net=pressed(net), place=place")],
)
def test_a_call_that_is_handed_what_a_function_quantizes_tells_where_it_is_moved(
    changed: str,
) -> None:
    source = _source(changed)
    found = told_in_call(source)
    assert found is not None
    assert (found.line, ast.unparse(found.node)) == (11, "place")
    said = structures.suspect("quantized-placement", [source], [], [], torch())
    assert said is not None
    assert said.spot.node is found.node


@pytest.mark.parametrize(
    "changed",
    [
        HANDED.replace("net.to(self.place)", "net.to(OTHER)"),
        HANDED.replace("self.place = place", "self.place = other(place)"),
        HANDED.replace("return small", "return net"),
        HANDED.replace("Till(pressed(net)", "Till(net"),
        HANDED.replace("    small =", "    small = net\n    if net.big:\n        small ="),
    ],
)
def test_a_call_that_is_handed_another_model_tells_nothing(changed: str) -> None:
    assert told_in_call(_source(changed)) is None
