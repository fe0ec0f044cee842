"""Where the misplaced operand comes from, by names, lines and calls (`diagnose.scene.provenance`)."""

from __future__ import annotations

import pytest

from diagnose.casebase.store import Casebase
from diagnose.facts.words import experience, words
from diagnose.parsing import parse
from diagnose.scene import Scene

MET = (
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
)
TARGET = (
    f"{MET} (when checking argument for argument target in method wrapper_CUDA_nll_loss_forward)"
)


def scene(casebase: Casebase, message: str, *frames: tuple[str, str]) -> Scene:
    """A failure of one file: function and line of each frame, outermost first."""
    lines = ["Traceback (most recent call last):"]
    for number, (function, code) in enumerate(frames, 1):
        lines += [f'  File "/home/u/train.py", line {number * 10}, in {function}', f"    {code}"]
    text = "\n".join([*lines, f"RuntimeError: {message}"])
    return Scene(parse(text.encode(), knowledge=casebase.knowledge), casebase.knowledge)


def shares(casebase: Casebase, message: str, *frames: tuple[str, str]) -> dict[str, float]:
    found = scene(casebase, message, *frames).provenance
    assert found is not None
    assert sum(found.values()) == pytest.approx(1.0)
    return dict(found)


def test_what_the_caller_does_not_pass_was_made_there(casebase: Casebase) -> None:
    """One line, and two callers."""
    line = ("loss", "return F.cross_entropy(logits, labels)")
    alone = shares(casebase, TARGET, ("fit", "out = loss(z)"), line)
    passed = shares(casebase, TARGET, ("<module>", "out = loss(z, labels)"), line)
    assert alone["made"] > 2 * alone.get("batch", 0.0)
    assert passed["batch"] > 2 * alone.get("batch", 0.0)


def test_what_is_passed_is_followed_through_all_callers(casebase: Casebase) -> None:
    inner = ("masked_nll", "return -(picked * mask).sum() / mask.sum()")
    step = ("training_step", "loss = masked_nll(self.model(tokens), gold, mask)")
    made = ("<module>", "mask = step(torch.ones(3))")
    short = shares(casebase, MET, step, inner)
    long = shares(casebase, MET, ("fit", "self.training_step(tokens, gold, mask)"), step, inner)
    assert short != long
    assert shares(casebase, MET, made, ("step", "return x * y.zeros"), ("f", "a * b")) is not None


def test_a_factory_in_the_line_is_made_there(casebase: Casebase) -> None:
    found = shares(casebase, MET, ("step", "return noise_scale * torch.randn(4) + x.cuda()"))
    assert found["made"] > 0.5


def test_an_attribute_is_never_a_parameter_of_the_function(casebase: Casebase) -> None:
    found = shares(casebase, MET, ("<module>", "model(x)"), ("forward", "return x + self.pe"))
    assert not found.get("given")
    assert sum(found.get(kind, 0.0) for kind in ("buffer", "attribute", "state", "parameter")) > 0.1


def test_a_line_without_operands_tells_nothing(casebase: Casebase) -> None:
    assert scene(casebase, MET, ("<module>", "main()")).provenance is None


def test_words_tell_a_look_alike_apart(casebase: Casebase) -> None:
    line = ("loss", "return F.cross_entropy(logits, labels)")
    alone = words(scene(casebase, TARGET, ("fit", "out = loss(z)"), line))
    passed = words(scene(casebase, TARGET, ("fit", "out = loss(z, labels)"), line))
    assert {"not passed labels", "not passed of 1"} <= alone - passed
    assert {"passed", "passed labels"} <= passed - alone


def test_hostile_depth_and_length_are_read_in_time(casebase: Casebase) -> None:
    deep = ("f", "return " + "(" * 40 + "x" + ")" * 40 + " + y" * 30)
    many = [("f", f"g(x{n}, y, z, *args)") for n in range(300)]
    found = scene(casebase, MET, *many, deep)
    assert found.provenance is None or sum(found.provenance.values()) == pytest.approx(1.0)
    assert set(experience(found)) == set(casebase.causes)
