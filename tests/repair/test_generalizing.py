"""The device of an edit, told by what is at hand."""

from __future__ import annotations

from diagnose.repair.patch import Patch
from diagnose.repair.refinement.device_literals import general

PROGRAM = """\
import torch

DEVICE = "cuda:1"


class Net(torch.nn.Module):
    def __init__(self, device):
        super().__init__()
        self.device = device

    def scale(self, x, width):
        return x * table(width, 2)


def table(n, device_name=None):
    return torch.ones(n)
"""


def test_names_of_a_device_come_before_what_has_one() -> None:
    after = PROGRAM.replace("table(width, 2)", 'table(width, 2).to("cuda:0")')
    found = list(general(Patch(PROGRAM, after)))
    told = [one.told.strip().removeprefix("return x * table(width, 2)") for one in found]
    assert told == [
        ".to(self.device)",
        ".to(DEVICE)",
        ".to(x.device)",
        ".to(width.device)",
        ".to(next(self.parameters()).device)",
    ]
    for one in found:
        assert one.text == after.replace(one.row, one.told) and one.told in one.text


def test_a_bare_move_is_told_in_the_same_way() -> None:
    after = PROGRAM.replace("torch.ones(n)", "torch.ones(n).cuda()")
    told = [one.told.strip() for one in general(Patch(PROGRAM, after))]
    devices = ["DEVICE", "n.device", "device_name.device"]
    assert told == [f"return torch.ones(n).to({device})" for device in devices]


def test_what_the_function_asks_for_a_device_comes_first() -> None:
    program = "def main(args, model):\n    x = ones(2).to(args.device)\n    model(x, ones(2))\n"
    after = program.replace("x, ones(2)", 'x, ones(2).to("cuda:0")')
    told = [one.told.strip() for one in general(Patch(program, after))]
    assert told[0] == "model(x, ones(2).to(args.device))"


def test_what_the_program_calls_its_device_elsewhere_is_told_by_the_same_name() -> None:
    program = (
        "def main(opts, x):\n    x = ones(2).to(opts.device)\n    other(opts, x)\n\n\n"
        "def other(opts, x):\n    return x + ones(2)\n\n\nlast = ones(2).cuda()\n"
    )
    after = program.replace("x + ones(2)", 'x + ones(2).to("cuda:0")')
    told = [one.told.strip() for one in general(Patch(program, after), told=True)]
    assert told == ["return x + ones(2).to(opts.device)"]
    told = [
        one.told.strip()
        for one in general(Patch(*(t.replace(".cuda()", "") for t in (program, after))), told=True)
    ]
    assert "return x + ones(2).to(x.device)" in told, "it has no other way to write down a GPU"


def test_what_writes_down_no_gpu_or_two_stays() -> None:
    after = PROGRAM.replace("torch.ones(n)", "torch.ones(n, device=DEVICE)")
    assert not list(general(Patch(PROGRAM, after)))
    twice = PROGRAM.replace("return", 'torch.zeros(1, device="cuda:0")\n    return')
    assert not list(general(Patch(PROGRAM, twice.replace("        return", "    return"))))


def test_the_device_of_options_that_the_function_has_made_is_told() -> None:
    program = (
        "def parts(options):\n    return ones(2).to(options.device)\n\n\n"
        "def main():\n    options = parsed()\n    net = built(options)\n    parts(options)\n"
        'last = ones(2).to("cuda:0")\n'
    )
    after = program.replace("built(options)\n", 'built(options).to("cuda:0")\n')
    told = [one.told.strip() for one in general(Patch(program, after), told=True)]
    assert told == ["net = built(options).to(options.device)"]


def test_a_model_that_the_function_calls_tells_its_device() -> None:
    program = (
        "def checked(net, width):\n    x = zeros(1, width)\n    return net(x)\n\n\n"
        'built().to("cuda")\n'
    )
    after = program.replace("zeros(1, width)", 'zeros(1, width).to("cuda")')
    told = [one.told.strip() for one in general(Patch(program, after), told=True)]
    assert told == ["x = zeros(1, width).to(next(net.parameters()).device)"]


def test_what_an_object_keeps_or_has_made_tells_its_device() -> None:
    program = """\
class Encoder:
    def __init__(self, settings):
        self.settings = settings

    def __call__(self, rows):
        return rows


class Service:
    def __init__(self, settings):
        self.device = settings.device


service = Service(Settings())
noise = draw(3)
"""
    inside = program.replace("return rows", 'return rows.to("cuda:1")')
    told = [one.told.strip() for one in general(Patch(program, inside), told=True)]
    assert "return rows.to(self.settings.device)" in told
    below = program.replace("draw(3)", 'draw(3, device="cuda:1")')
    told = [one.told.strip() for one in general(Patch(program, below), told=True)]
    assert "noise = draw(3, device=service.device)" in told


def test_the_number_of_a_gpu_tells_it() -> None:
    program = "GPU_ID = 1\n\n\ndef collate(rows):\n    return stack(rows)\n"
    after = program.replace("stack(rows)", 'stack(rows).to("cuda:1")')
    told = [one.told.strip() for one in general(Patch(program, after))]
    assert told[0] == 'return stack(rows).to(f"cuda:{GPU_ID}")'


def test_a_device_that_a_table_holds_is_told() -> None:
    program = (
        'config = {"device": "cuda", "rows": 2}\n\n\n'
        'def train():\n    net = built().to(config["device"])\n    net(ones(config["rows"]))\n'
    )
    after = program.replace('ones(config["rows"])', 'ones(config["rows"]).to("cuda:0")')
    told = [one.told.strip() for one in general(Patch(program, after))]
    assert told[0] == 'net(ones(config["rows"]).to(config["device"]))'


def test_a_default_device_is_asked_for() -> None:
    before = """\
import torch

torch.set_default_device("cuda" if torch.cuda.is_available() else "cpu")
order = torch.Generator()
"""
    after = before.replace("Generator()", 'Generator(device="cuda:0")')
    found = [one.told for one in general(Patch(before, after))]
    assert "order = torch.Generator(device=torch.get_default_device())\n" in found
