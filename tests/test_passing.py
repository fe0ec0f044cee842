"""What calls pass on the way to the failing line, and what that tells of the misplaced operand."""

from __future__ import annotations

import pytest

from diagnose import facts
from diagnose.casebase.store import Casebase
from diagnose.parsing import parse
from diagnose.pipeline import diagnose
from diagnose.scene import Scene

TARGET = (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and"
    " cpu! (when checking argument for argument target in method wrapper_CUDA_nll_loss_forward)"
)
ELEMENTWISE = (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices,"
    " cuda:0 and cpu!"
)


def text(*frames: tuple[str, str], message: str = ELEMENTWISE) -> bytes:
    lines = ["Traceback (most recent call last):"]
    for number, (function, code) in enumerate(frames, 20):
        lines += [f'  File "/srv/birds/run.py", line {number}, in {function}', f"    {code}"]
    return "\n".join([*lines, message, ""]).encode()


def shown(log: bytes, casebase: Casebase) -> set[str]:
    return set(facts.read(Scene(parse(log, knowledge=casebase.knowledge), casebase.knowledge)))


@pytest.mark.parametrize(
    ("call", "handed_in"),
    [
        ("loss = pairwise(z)", False),
        ("loss = pairwise(self.head(z), self.margin, 0.1)", False),
        ("loss = pairwise(z, where)", True),
        ("loss = pairwise(batch)", True),
        ("loss = pairwise(*parts)", True),
        ("loss = pairwise(z, mates=where)", True),
    ],
)
def test_a_local_that_no_argument_can_have_brought_was_made_in_the_function(
    call: str, handed_in: bool, casebase: Casebase
) -> None:
    log = text(
        ("training_step", call),
        ("pairwise", "return F.cross_entropy(near, where)"),
        message=TARGET,
    )
    assert ("made-in-function" in shown(log, casebase)) is not handed_in


@pytest.mark.parametrize(
    ("call", "handed_in"),
    [
        ("main(parse_args())", True),
        ("main(args)", True),
        ('run(torch.device("cuda"), 5)', True),
        ("run(build_model(), config.data_loader)", True),
        ("run(net(x), args)", False),
    ],
)
def test_where_only_settings_are_passed_both_operands_were_made_in_the_function(
    call: str, handed_in: bool, casebase: Casebase
) -> None:
    log = text(
        ("<module>", call),
        (call.partition("(")[0], "return F.cross_entropy(near, where)"),
        message=TARGET,
    )
    assert ("not-handed-in" in shown(log, casebase)) is not handed_in


def test_what_a_method_did_not_get_may_be_of_its_object(casebase: Casebase) -> None:
    log = text(
        ("training_step", "loss = self.pairwise(z)"),
        ("pairwise", "return F.cross_entropy(near, where)"),
        message=TARGET,
    )
    found = shown(log, casebase)
    assert "not-handed-in" in found
    assert "made-in-function" not in found


def test_a_target_that_was_not_passed_is_no_forgotten_batch(casebase: Casebase) -> None:
    passed, made = (
        diagnose(
            text(
                ("training_step", f"loss = pairwise({given})"),
                ("pairwise", "return F.cross_entropy(near, where)"),
                message=TARGET,
            ),
            casebase=casebase,
        )
        for given in ("z, where", "z")
    )
    assert made.causes[0].id == "created-without-device"
    assert passed.causes[0].id == "input-not-moved"


@pytest.mark.parametrize(
    ("call", "moves"),
    [
        ("out = net(x.to(device, non_blocking=True))", True),
        ("out = net(torch.rand(4, 3, device=home), 7)", True),
        ("out = net(x.cuda(), y)", False),
        ("out = net(x)", False),
    ],
)
def test_a_call_moves_all_that_it_passes_or_not(call: str, moves: bool, casebase: Casebase) -> None:
    log = text(("main", call), ("forward", "return h + drift"))
    assert ("call-moves-arguments" in shown(log, casebase)) is moves


@pytest.mark.parametrize(
    ("operand", "of_sizes"),
    [
        ("wave(x.shape[1], x.size(0) // 2)", True),
        ("wave(len(x), 64)", True),
        ("wave(x)", False),
        ("self.wave(x.shape[1])", False),
        ("wave()", False),
    ],
)
def test_a_function_that_is_given_sizes_alone_makes_its_result(
    operand: str, of_sizes: bool, casebase: Casebase
) -> None:
    log = text(("main", "out = net(x)"), ("forward", f"return x + {operand}"))
    assert ("operand-of-sizes" in shown(log, casebase)) is of_sizes


@pytest.mark.parametrize(
    ("line", "sums"),
    [
        ("energy += out.square().sum()", True),
        ("right += (guess == y).sum()\n              ~~~~~~^^~~", False),
        ("self.energy += out.square()", False),
    ],
)
def test_a_sum_is_the_operand_only_where_the_sum_fails(
    line: str, sums: bool, casebase: Casebase
) -> None:
    log = text(("main", "run()"), ("run", line))
    assert ("accumulates-local" in shown(log, casebase)) is sums


def test_the_step_of_an_own_optimizer_is_not_the_closure_that_it_calls(casebase: Casebase) -> None:
    step = ("main", "slow_opt.step()")
    inside = text(step, ("step", "self.blend()"), ("blend", "slow.add_(fast - slow)"))
    closure = text(step, ("step", "loss = closure()"), ("closure", "loss = a - b"))
    environment = text(("main", "arena.step(move)"), ("step", "self.s = a - b"))
    assert ["own-optimizer" in shown(log, casebase) for log in (inside, closure, environment)] == [
        True,
        False,
        False,
    ]


def test_a_layer_that_a_loop_names_is_the_operand_of_its_weights(casebase: Casebase) -> None:
    log = text(
        ("main", "out = net(x)"),
        ("forward", "h = blk(h)"),
        message="RuntimeError: Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be"
        " the same",
    ).replace(
        b"RuntimeError",
        b'  File "/x/site-packages/torch/nn/modules/conv.py", line 9, in forward\n'
        b"    return self._conv_forward(input, self.weight, self.bias)\nRuntimeError",
    )
    scene = Scene(parse(log, knowledge=casebase.knowledge), casebase.knowledge)
    assert scene.strays == ("blk(…)",)


GPUS = (
    "RuntimeError: Expected all tensors to be on the same device, but got x2 is on {}, different from other"
    " tensors on {} (when checking argument in method wrapper_CUDA___cdist_forward)"
)


@pytest.mark.parametrize(
    ("call", "named", "rest", "made"),
    [
        ("far = spread(net, rows)", "cuda:0", "cuda:1", True),
        ("far = spread(net, nests)", "cuda:0", "cuda:1", False),
        ("far = spread(*both)", "cuda:0", "cuda:1", False),
        ("far = spread(net, rows)", "cuda:1", "cuda:0", False),
    ],
)
def test_what_is_on_the_default_gpu_and_was_not_passed_was_made_there(
    call: str, named: str, rest: str, made: bool, casebase: Casebase
) -> None:
    log = text(
        ("main", call),
        ("spread", "return torch.cdist(z, nests)"),
        message=GPUS.format(named, rest),
    )
    found = facts.read(Scene(parse(log, knowledge=casebase.knowledge), casebase.knowledge))
    fact = found.get("default-gpu-not-handed-in")
    assert (fact is not None and fact.values["name"] == "nests") is made


@pytest.mark.parametrize(
    ("call", "inner", "entered", "second"),
    [
        ("old = scores(self.ref_model, rows)", "return model(rows).max(-1)", "forward", True),
        ("old = scores(rows, teacher)", "return net(rows)", "__call__", True),
        ("old = scores(self.policy, rows)", "return model(rows)", "forward", False),
        ("old = scores(model, teacher, rows)", "return net(rows)", "forward", False),
        ("old = scores(self.teacher, rows)", "return centred(rows)", "centred", False),
    ],
)
def test_a_second_model_is_known_by_the_name_that_the_caller_gives_it(
    call: str, inner: str, entered: str, second: bool, casebase: Casebase
) -> None:
    log = text(("step", call), ("scores", inner), (entered, "h = rows + shift"))
    assert ("handed-second-model" in shown(log, casebase)) is second
