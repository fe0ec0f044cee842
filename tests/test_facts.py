"""Facts: what a report shows, with the line that shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose import facts
from diagnose.casebase.store import Casebase
from diagnose.model import Failure, Frame, Line, Mismatch, Report, SeenTensor


def report(
    *frames: Frame,
    message: str = "Expected all tensors to be on the same device",
    devices: tuple[str, ...] = ("cuda:0", "cpu"),
    op: str | None = None,
    argument: str | None = None,
    wording: str = "torch.tensor_iterator.same_device",
    expected: str | None = None,
    found: str | None = None,
    **more: object,
) -> Report:
    mismatch = Mismatch(devices, op, argument, wording, expected, found)
    error = Failure("RuntimeError", message, "device-placement", at=9)
    return Report("-", error, mismatch, frames, **more)  # type: ignore[arg-type]


def read(given: Report, casebase: Casebase) -> dict[str, facts.Fact]:
    return facts.read(given, casebase.facts, casebase.operands)


@pytest.mark.parametrize(
    ("op", "argument", "expected", "found", "fact"),
    [
        ("wrapper_CUDA_addmm", "mat1", "cpu", "cuda:0", "weight-on-cpu"),
        ("wrapper_CUDA_addmm", "mat1", "cuda:0", "cpu", "input-on-cpu"),
        ("wrapper_CUDA_mm", "mat2", "cuda:0", "cpu", "weight-on-cpu"),
        ("wrapper_CUDA__index_select", "index", "cuda:0", "cpu", "index-on-cpu"),
        ("wrapper_CUDA__index_select", "index", "cpu", "cuda:0", "table-on-cpu"),
        ("wrapper_CUDA__index_select", "index", "cuda:1", "cuda:0", "ids-across-gpus"),
        ("wrapper_CUDA_nll_loss_forward", "target", "cuda:0", "cpu", "target-on-cpu"),
        ("wrapper_CUDA_nll_loss_forward", "target", "cuda:1", "cuda:0", "target-elsewhere"),
        ("wrapper_CUDA_nll_loss_forward", "weight", "cuda:0", "cpu", "class-weight-elsewhere"),
        ("wrapper_CUDA__native_layer_norm", "weight", "cuda:0", "cpu", "weight-on-cpu"),
        ("wrapper_addmm", "mat1", "cuda:1", "cuda:0", "layer-across-gpus"),
    ],
)
def test_the_misplaced_operand_is_read_off_op_and_argument(
    op: str, argument: str, expected: str, found: str, fact: str, casebase: Casebase
) -> None:
    given = report(
        op=op, argument=argument, expected=expected, found=found, devices=(expected, found)
    )
    names = {
        "weight-on-cpu",
        "input-on-cpu",
        "index-on-cpu",
        "table-on-cpu",
        "target-on-cpu",
        "target-elsewhere",
        "class-weight-elsewhere",
        "ids-across-gpus",
        "layer-across-gpus",
    }
    assert read(given, casebase).keys() & names == {fact}


def test_a_convolution_tells_both_sides(casebase: Casebase) -> None:
    message = (
        "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same"
    )
    given = report(devices=(), wording="torch.conv.type", message=message)
    assert "weight-on-cpu" in read(given, casebase)


@pytest.mark.parametrize(
    ("code", "fact", "values"),
    [
        ("x = x + self.pe[:, :n]", "uses-cached-attribute", {"name": "self.pe"}),
        ("y = x * self.gain", "uses-own-attribute", {"name": "self.gain"}),
        ("y = x * torch.ones(3)", "makes-tensor", {}),
        ("c = table[ids]", "indexes", {"name": "table", "index": "ids"}),
        ("c = self.images[ids]", "indexes-attribute", {"name": "self.images"}),
        ("y = x.to('cuda:0') + z", "names-device", {}),
        ("y = a + b", "local-operands", {}),
    ],
)
def test_the_failing_line_is_read(
    code: str, fact: str, values: dict[str, str], casebase: Casebase
) -> None:
    found = read(report(Frame("net.py", 3, "forward", code, at=4)), casebase)
    assert fact in found
    assert found[fact].line == 4
    assert values.items() <= found[fact].values.items()


@pytest.mark.parametrize(
    ("code", "fact"),
    [
        ("y = self.layer(x)", "uses-own-attribute"),
        ("y = self.block.norm(x)", "uses-own-attribute"),
        ("y = x * torch.ones(3, device=x.device)", "makes-tensor"),
        ("c = table[0] + table[:2]", "indexes"),
        ("y = a + self.b", "local-operands"),
    ],
)
def test_the_failing_line_is_not_read_into(code: str, fact: str, casebase: Casebase) -> None:
    assert fact not in read(report(Frame("net.py", 3, "forward", code)), casebase)


def test_what_fails_inside_torch_is_called_by_its_name_outside(casebase: Casebase) -> None:
    linear = "site-packages/torch/nn/modules/linear.py"
    found = read(
        report(
            Frame("net.py", 3, "forward", "return self.out_head(x)", at=2),
            Frame(linear, 125, "forward", "return F.linear(x, w)", library="torch", at=5),
        ),
        casebase,
    )
    assert found["calls-head"].values["name"] == "self.out_head"
    assert found["torch-layer"].line == 5
    assert "fails-in-own-code" in found


def test_frames_log_lines_and_ranks(casebase: Casebase) -> None:
    hook = Frame(
        "site-packages/accelerate/hooks.py", 165, "new_forward", library="accelerate", at=3
    )
    given = report(
        hook,
        devices=("cuda:1", "cuda:0"),
        context=(
            Line(
                1, "Some parameters are on the meta device because they were offloaded to the cpu."
            ),
        ),
        ranks=(1,),
    )
    found = read(given, casebase)
    assert found["accelerate-hook"].line == 3
    assert found["offload-in-log"].line == 1
    assert found["later-rank"].values["rank"] == "1"
    assert {"pair-two-gpus", "default-gpu-and-later"} <= found.keys()


def test_live_tensors_name_the_odd_parameter(casebase: Casebase) -> None:
    given = report(
        tensors=(
            SeenTensor("trunk.weight", "cuda:0", "parameter"),
            SeenTensor("trunk.bias", "cuda:0", "parameter"),
            SeenTensor("out_head.weight", "cpu", "parameter"),
        )
    )
    fact = read(given, casebase)["parameter-seen"]
    assert fact.values["names"] == "out_head.weight"
    assert (fact.values["device"], fact.values["other"]) == ("cpu", "cuda:0")


def test_every_declared_fact_is_declared_or_computed(casebase: Casebase) -> None:
    """A table of kb/facts.toml without matchers must be yielded somewhere in diagnose.facts."""
    folder = Path(facts.__file__).parent
    source = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    computed = [rule.id for rule in casebase.facts.values() if not rule.when and not rule.frame]
    missing = [
        name for name in computed if f'"{name}"' not in source and not name.endswith("-seen")
    ]
    assert computed
    assert not missing
