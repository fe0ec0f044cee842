"""What a class or a function of the program moves itself is not moved in one call of it."""

from __future__ import annotations

from repair.guards import told_by

from diagnose.repair.validation.callee_moves import handed_on

_LOOP = """\
class Loop:
    def __init__(self, net, device):
        self.device = device
        self.net = net
        self.optimizer = build(self.net)

    def fit(self):
        self.net.to(self.device)
        self.optimizer.step()


def main(device):
    Loop(make(), device).fit()
"""


def _against(program: str, old: str, new: str) -> list[str]:
    assert program.count(old) == 1
    return [guard.id for guard in told_by(handed_on, program, program.replace(old, new))]


def test_a_class_that_moves_its_model_too_late_is_mended_itself() -> None:
    assert _against(_LOOP, "make(), device", "make().to(device), device") == ["deaf"]
    assert _against(_LOOP, "self.net = net", "self.net = net.to(device)") == []


def test_a_function_that_moves_its_argument_is_mended_itself() -> None:
    program = """\
def evaluate(net, x, device):
    first = net(x[:1])
    net = net.to(device)
    return net(x), first


print(evaluate(model, data, device))
"""
    call = "(model, data, device))"
    assert _against(program, call, "(model.to(device), data, device))") == ["deaf"]
    assert _against(program, call, "(model, data.to(device), device))") == []


def test_a_class_that_never_moves_its_model_is_given_it_where_it_belongs() -> None:
    program = _LOOP.replace("        self.net.to(self.device)\n", "")
    assert _against(program, "make(), device", "make().to(device), device") == []
