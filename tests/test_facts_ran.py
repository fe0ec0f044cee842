"""Facts of what ran before a failure, and of what was handed on by its name."""

from __future__ import annotations

import pytest

from diagnose import facts
from diagnose.casebase.store import Casebase
from diagnose.parsing import parse
from diagnose.scene import Scene

WEIGHT = (
    "got mat1 is on cuda:0, different from other tensors on cpu "
    "(when checking argument in method wrapper_CUDA_addmm)"
)
INDEX = (
    "got index is on cpu, different from other tensors on cuda:0 "
    "(when checking argument in method wrapper_CUDA_gather)"
)
LIBRARY = "/x/site-packages"
LINEAR = (f"{LIBRARY}/torch/nn/modules/linear.py", "forward", "return F.linear(input, self.weight)")


def found(
    *frames: tuple[str, str, str] | tuple[str, str, str, str], said: str, casebase: Casebase
) -> frozenset[str]:
    """The facts of a traceback; a fourth text of a frame is the part that its carets underline."""
    lines = ["Traceback (most recent call last):"]
    for file, function, code, *part in frames:
        lines += [f'  File "{file}", line 7, in {function}', f"    {code}"]
        lines += [" " * (4 + code.index(one)) + "^" * len(one) for one in part]
    text = f"RuntimeError: Expected all tensors to be on the same device, but {said}"
    report = parse("\n".join([*lines, text]).encode(), knowledge=casebase.knowledge)
    return frozenset(facts.read(Scene(report, casebase.knowledge)))


@pytest.mark.parametrize(
    ("code", "part", "ran"),
    [
        ("return self.price(self.trunk(wares))", "self.price(self.trunk(wares))", True),
        ("a, b = self.atoms(z), self.bonds(e)", "self.bonds(e)", True),
        ("a, b = self.atoms(z), self.bonds(e)", "self.atoms(z)", False),
        ("y = y + self.kinds[k](self.trunk(x))", "self.kinds[k](self.trunk(x))", True),
        ("return self.price(norm(wares))", "self.price(norm(wares))", False),
        ("return self.price(self.parts.trunk(x))", "self.price(self.parts.trunk(x))", False),
    ],
)
def test_what_ran_before_in_the_statement_was_moved(
    code: str, part: str, ran: bool, casebase: Casebase
) -> None:
    inside = ("/home/u/shop.py", "forward", code, part)
    assert ("earlier-layer-ran" in found(inside, LINEAR, said=WEIGHT, casebase=casebase)) == ran


def test_two_networks_of_a_loop_are_no_parts_of_one(casebase: Casebase) -> None:
    code = "want = self.teacher(self.student(x))"
    step = ("/home/u/shop.py", "fit", code, "self.teacher(self.student(x))")
    assert "earlier-layer-ran" not in found(step, LINEAR, said=WEIGHT, casebase=casebase)


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("self.places(ids)", True),
        ("places(ids.shape[1])", True),
        ("places", False),
        ("rows.places(ids)", False),
    ],
)
def test_a_keyword_of_a_library_is_what_an_own_function_gave(
    given: str, made: bool, casebase: Casebase
) -> None:
    call = f"self.bert(ids, position_ids={given})"
    own = ("/home/u/long.py", "embed", f"h = {call}", call)
    hidden = (f"{LIBRARY}/transformers/models/bert/modeling_bert.py", "forward", "h = self.table(")
    code = "rows = torch.gather(rows, dim=1, index=position_ids)"
    site = (f"{LIBRARY}/transformers/models/bert/modeling_bert.py", "forward", code)
    assert ("made-by-own-call" in found(own, hidden, site, said=INDEX, casebase=casebase)) == made


@pytest.mark.parametrize(
    ("code", "loss"),
    [
        ("loss = spread(z, who) + 0.1 * centre(z, who)", True),
        ("loss = spread(z, me) + 0.1 * centre(z, who)", False),
        ("score = spread(z, who) + 0.1 * centre(z, who)", False),
    ],
)
def test_two_addends_of_a_loss_that_are_given_the_same_are_losses(
    code: str, loss: bool, casebase: Casebase
) -> None:
    call = ("/home/u/voices.py", "main", code, "centre(z, who)")
    inside = ("/home/u/voices.py", "forward", "d = torch.cdist(z, self.middles)")
    said = "found at least two devices, cuda:0 and cpu! (when checking argument for argument x2)"
    assert ("inside-criterion" in found(call, inside, said=said, casebase=casebase)) == loss
