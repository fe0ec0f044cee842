"""Triton's kernels and compiled extensions on simulated GPUs: what is asked of their tensors, what they
compute. The tests of Triton pass with the installed one as well as with what stands in for it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from diagnose.simulation import Terms, run_script, simulated_gpus
from diagnose.simulation.kernels.extensions import Function, known_functions

INSTALLED = find_spec("triton") is not None

# Triton reads a kernel's source, so kernels stand in a file.
KERNELS = """
import torch
import triton
import triton.language as tl

@triton.jit
def twice(x):
    return 2 * x

@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0)
    y = tl.load(y_ptr + offsets, mask=inside)
    kept = x
    x += 1
    tl.store(out_ptr + offsets, twice(x) + y - kept, mask=inside)

@triton.autotune(configs=[triton.Config({"BLOCK": 16}, num_warps=2)], key=["K"])
@triton.heuristics({"WHOLE": lambda args: args["K"] % args["BLOCK"] == 0})
@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr, WHOLE: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    along = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK)):
        at = k * BLOCK + along
        inside = at < K
        if WHOLE:
            inside = at < K + 1
        a = tl.load(a_ptr + rows * K + at[None, :], mask=(rows < M) & inside[None, :], other=0.0)
        b = tl.load(b_ptr + at[:, None] * N + columns, mask=inside[:, None] & (columns < N), other=0.0)
        total += tl.dot(a, b)
    where = c_ptr + rows * N + columns
    tl.store(where, total.to(c_ptr.dtype.element_ty), mask=(rows < M) & (columns < N))

@triton.jit
def softmax(out_ptr, x_ptr, width, scale, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    at = tl.program_id(0) * width + columns
    x = tl.load(x_ptr + at, mask=columns < width, other=-float("inf")) * scale
    x = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + at, x / tl.sum(x, axis=0), mask=columns < width)

x, y, out = (torch.arange(10.0, device="cuda") for _ in range(3))
"""


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs lines after the kernels on two simulated GPUs; what they printed."""

    def run(lines: str, **options: Any) -> str:
        script = tmp_path / "kernels.py"
        script.write_text(KERNELS + lines, encoding="utf-8")
        status = run_script(script, gpus=2, **options)
        printed = capsys.readouterr()
        return printed.out if status == 0 else printed.err

    return run


def refusal(number: int) -> str:
    at = "" if INSTALLED else f" (at {number})"
    return f"ValueError: Pointer argument{at} cannot be accessed from Triton (cpu tensor?)"


def test_a_kernel_computes(run: Callable[..., str]) -> None:
    printed = run("add[(3,)](x, y, out, 9, BLOCK=4)\nprint(out.tolist(), out.device)\n")
    assert printed == "[2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 9.0] cuda:0\n"


def test_a_tuned_kernel_in_two_dimensions(run: Callable[..., str]) -> None:
    printed = run(
        "a, b = torch.randn(20, 40, device='cuda'), torch.randn(40, 24, device='cuda')\n"
        "c = torch.empty(20, 24, device='cuda', dtype=torch.float16)\n"
        "def grid(meta):\n"
        "    return triton.cdiv(20, meta['BLOCK']), triton.cdiv(24, meta['BLOCK'])\n"
        "product[grid](a, b, c, 20, 24, 40)\n"
        "print(torch.allclose(c.float(), a @ b, atol=0.05), c.abs().max().item() > 1)\n"
    )
    assert printed == "True True\n"


def test_a_view_is_read_and_written_where_it_lies(run: Callable[..., str]) -> None:
    printed = run(
        "x = torch.randn(4, 5, device='cuda')\nout = torch.zeros(5, 5, device='cuda')\n"
        "softmax[(3,)](out[1:], x[1:], 5, 0.5, BLOCK=8)\n"
        "print(torch.allclose(out[1:4], (x[1:] / 2).softmax(-1)), out[[0, 4]].abs().sum().item())\n"
    )
    assert printed == "True 0.0\n"


@pytest.mark.parametrize(
    ("arguments", "number"),
    [
        ("x.cpu(), y, out, 10", 0),
        ("x, y, out.cpu(), 10", 2),
        ("x, y.to('cuda:1'), out.cpu(), 10", 1),
        ("x, y, n=10, out_ptr=out.cpu()", 2),
    ],
)
def test_the_first_pointer_out_of_reach_is_refused(
    run: Callable[..., str], arguments: str, number: int
) -> None:
    assert refusal(number) in run(f"add[(1,)]({arguments}, BLOCK=16)\n")


def test_the_current_gpu_is_the_one_that_reaches(run: Callable[..., str]) -> None:
    launch = "add[(1,)](x, y, out, 10, BLOCK=16)\n"
    moved = "x, y, out = x.cuda(1), y.cuda(1), out.cuda(1)\n"
    assert refusal(0) in run(moved + launch)
    assert run(f"{moved}with torch.cuda.device(1):\n    {launch}print(out[1].item())\n") == "4.0\n"


@pytest.mark.parametrize("reached", ["y.cpu().pin_memory()", "y[:0].cpu()"])
def test_pinned_memory_and_no_memory_pass(run: Callable[..., str], reached: str) -> None:
    printed = run(f"add[(1,)](x, {reached}, out, 0, BLOCK=16)\nprint('launched')\n")
    assert printed == "launched\n"


def test_where_devices_are_not_compared_no_pointer_is_asked(run: Callable[..., str]) -> None:
    lines = "add[(1,)](x.cpu(), y, out, 10, BLOCK=16)\nprint(out[1].item())\n"
    assert run(lines, terms=Terms(checked=False)) == "4.0\n"


def test_the_traceback_ends_where_the_program_launches(run: Callable[..., str]) -> None:
    lines = run("add[(1,)](x.cpu(), y, out, 10, BLOCK=16)\n").splitlines()
    frames = [line for line in lines if line.lstrip().startswith("File ")]
    assert "kernels.py" in frames[0]
    assert not any("simulation" in frame for frame in frames)


@pytest.mark.skipif(INSTALLED, reason="what stands in for Triton where it is not installed")
class TestStandIn:
    def test_torch_and_availability_checks_find_no_triton(self, run: Callable[..., str]) -> None:
        printed = run(
            "import importlib.util, sys\n"
            "import torch.utils._triton, torch._inductor.runtime.triton_compat\n"
            "print(torch.utils._triton.has_triton_package.__wrapped__())\n"
            "print(importlib.util.find_spec('triton'), 'triton' in sys.modules)\n"
        )
        assert printed == "False\nNone False\n"

    def test_it_is_gone_afterwards(self, run: Callable[..., str]) -> None:
        run("")
        with pytest.raises(ModuleNotFoundError):
            import triton  # noqa: F401

    def test_a_word_that_it_lacks_is_named(self, run: Callable[..., str]) -> None:
        printed = run("tl.associative_scan\n")
        assert "AttributeError: triton.language.associative_scan is not known" in printed
        assert "with Triton installed" in printed

    def test_a_kernel_is_launched_not_called(self, run: Callable[..., str]) -> None:
        assert "outside of the scope of a kernel" in run("add(x, y, out, 10, 16)\n")

    def test_an_argument_that_no_kernel_has(self, run: Callable[..., str]) -> None:
        assert "TypeError" in run("add[(1,)](x, y, out, 10, BLOCK=16, BLOK=2)\n")


# --- compiled extensions ---


def tensors_for(function: Function, elsewhere: str = "") -> dict[str, Any]:
    """An argument for each parameter: tensors on the GPU, but for one on the cpu."""
    asked = {name for question in function.asks for name in question.of}
    given: dict[str, Any] = dict.fromkeys(function.parameters, 1)
    for name in asked:
        tensor = torch.ones(2, 2, device="cpu" if name == elsewhere else "cuda")
        given[name] = [[tensor]] if name == "tensor_lists" else tensor
    return given


CASES = [
    (function, question.says.replace("{argument}", name), name)
    for function in known_functions()
    for question in function.asks
    for name in question.of
    if not question.like_first
]


@pytest.mark.parametrize(
    ("function", "sentence", "name"),
    CASES,
    ids=[f"{c[0].module}.{c[0].name}-{c[2]}" for c in CASES],
)
def test_an_extension_refuses_each_tensor_that_it_asks_about(
    gpus: None, function: Function, sentence: str, name: str
) -> None:
    from importlib import import_module

    call = getattr(import_module(function.module), function.name)
    with pytest.raises(RuntimeError) as caught:
        call(**tensors_for(function, elsewhere=name))
    assert str(caught.value) == sentence


def test_one_of_many_tensors_lies_elsewhere(gpus: None) -> None:
    import amp_C

    lists = [[torch.ones(2, device="cuda:0")], [torch.ones(2, device="cuda:1")]]
    with pytest.raises(RuntimeError, match="not on the same device as the first tensor"):
        amp_C.multi_tensor_scale(65536, torch.zeros(1, dtype=torch.int), lists, 1.0)


def test_what_is_not_computed_says_so(gpus: None) -> None:
    from pointnet2_ops import _ext

    points = torch.rand(1, 4, 3, device="cuda")
    with pytest.raises(NotImplementedError, match=r"pointnet2_ops\._ext\.three_nn asks"):
        _ext.three_nn(points, points)


def test_an_installed_extension_steps_aside_and_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "amp_C.py").write_text("installed = True\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with simulated_gpus(1):
        import amp_C

        assert not hasattr(amp_C, "installed")
    assert "amp_C" not in sys.modules
    import amp_C

    assert amp_C.installed
    del sys.modules["amp_C"]


class Scan(torch.autograd.Function):
    """As mamba_ssm calls its extension."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> Any:
        import selective_scan_cuda

        out, x, *gated = selective_scan_cuda.fwd(*given, True)
        ctx.save_for_backward(*given, x, out)
        return gated[0]

    @staticmethod
    def backward(ctx: Any, dout: Any) -> Any:
        import selective_scan_cuda

        *given, x, out = ctx.saved_tensors
        u, delta, A, B, C, D, bias, z = selective_scan_cuda.bwd(
            *given, dout, x, out, None, True, False
        )
        return u, delta, A, B, C, D, z, bias


def test_the_selective_scan_and_its_gradients() -> None:
    torch.manual_seed(0)
    batch, dim, state, length = 2, 4, 3, 5
    shapes = [(batch, dim, length)] * 2 + [(dim, state), (batch, 2, state, length), (dim, state)]
    given = [torch.randn(shape) for shape in [*shapes, (dim,), (batch, dim, length), (dim,)]]
    u, delta, A, B, C, D, z, bias = given
    step = nn.functional.softplus(delta + bias[:, None])
    expected = torch.zeros(batch, dim, length)
    for b in range(batch):
        for d in range(dim):
            h = torch.zeros(state)
            for t in range(length):
                h = (
                    torch.exp(step[b, d, t] * A[d]) * h
                    + step[b, d, t] * u[b, d, t] * (B[b, d // 2, :, t])
                )
                expected[b, d, t] = (h @ C[d] + D[d] * u[b, d, t]) * nn.functional.silu(z[b, d, t])
    with simulated_gpus(1):
        import selective_scan_cuda

        on_gpu = [x.cuda().requires_grad_() for x in given]
        assert torch.allclose(Scan.apply(*on_gpu).cpu(), expected, atol=1e-5)
        out, x = selective_scan_cuda.fwd(*on_gpu[:6], None, on_gpu[7], True)
        assert out.device.type == "cuda" and x.shape == (batch, dim, 1, 2 * state)
        exact = [x.double().requires_grad_() for x in on_gpu]
        assert torch.autograd.gradcheck(
            Scan.apply, exact, check_undefined_grad=False, fast_mode=True
        )


def test_deformable_attention_takes_what_stands_at_its_points(gpus: None) -> None:
    import MultiScaleDeformableAttention as MSDA

    value = torch.arange(18.0, device="cuda").view(1, 9, 2, 1).requires_grad_()  # 3 x 3, two heads
    shapes = torch.tensor([[2, 2], [1, 5]], device="cuda")
    starts = torch.tensor([0, 4], device="cuda")
    # Levels of 2 x 2 and of 1 x 5: the middle of the pixel below on the right, and of the third.
    middle = torch.tensor([[[0.75, 0.75]], [[0.5, 0.5]]], device="cuda")
    locations = middle.expand(1, 1, 2, 2, 1, 2).contiguous()
    weights = torch.tensor([[0.25], [0.75]], device="cuda").expand(1, 1, 2, 2, 1).contiguous()
    given = (value, shapes, starts, locations, weights)
    assert MSDA.ms_deform_attn_forward(*given, 64).tolist() == [[[10.5, 11.5]]]
    gradient = torch.ones(1, 1, 2, device="cuda")
    of_value, of_locations, of_weights = MSDA.ms_deform_attn_backward(*given, gradient, 64)
    assert of_value.flatten().nonzero().flatten().tolist() == [6, 7, 12, 13]
    assert of_locations.shape == locations.shape
    assert of_weights.flatten().tolist() == [6.0, 12.0, 7.0, 13.0]


def test_softmax_in_place_and_back(gpus: None) -> None:
    import attn_core_inplace_cuda as core

    logits, values = (torch.randn(6, 6, device="cuda", requires_grad=True) for _ in range(2))
    kept = logits.detach().clone()
    assert core.forward_(kept, 6, 6) is None
    expected = logits.softmax(-1)
    assert torch.allclose(kept, expected)
    gradient = torch.randn(6, 6, device="cuda")
    core.backward_(kept, gradient, values.detach(), 6, 6, 6)
    (expected @ values).backward(gradient)
    assert torch.allclose(kept, logits.grad, atol=1e-6)


def test_points_are_chosen_and_gathered(gpus: None) -> None:
    from pointnet2_ops import _ext

    line = torch.tensor([0.0, 1.0, 2.0, 10.0, 5.0], device="cuda")
    xyz = torch.stack([line, 0 * line, 0 * line], -1)[None]
    chosen = _ext.furthest_point_sampling(xyz, 3)
    assert chosen.tolist() == [[0, 3, 4]] and chosen.dtype == torch.int32
    features = line[None, None]
    assert _ext.gather_points(features, chosen).tolist() == [[[0.0, 10.0, 5.0]]]
    near = _ext.ball_query(xyz, xyz, 1.5, 3)
    assert near.tolist() == [[[0, 1, 0], [0, 1, 2], [1, 2, 1], [3, 3, 3], [4, 4, 4]]]
    grouped = _ext.group_points(features, near)
    assert grouped.tolist()[0][0][1] == [0.0, 1.0, 2.0]
    counted = _ext.group_points_grad(torch.ones_like(grouped), near, 5)
    assert counted.tolist() == [[[3.0, 4.0, 2.0, 3.0, 3.0]]]


@pytest.mark.parametrize("mode", [0, 1])
def test_apex_updates_as_torch_does(gpus: None, mode: int) -> None:
    import amp_C

    torch.manual_seed(0)
    parameter = nn.Parameter(torch.randn(5, device="cuda"))
    kind = torch.optim.AdamW if mode else torch.optim.Adam
    optimizer = kind([parameter], lr=0.1, weight_decay=0.2)
    twin = parameter.detach().clone()
    mean, square = torch.zeros_like(twin), torch.zeros_like(twin)
    flag = torch.zeros(1, dtype=torch.int, device="cuda")
    for step in (1, 2):
        parameter.grad = torch.randn(5, device="cuda")
        lists = [[parameter.grad.clone()], [twin], [mean], [square]]
        amp_C.multi_tensor_adam(65536, flag, lists, 0.1, 0.9, 0.999, 1e-8, step, mode, True, 0.2)
        optimizer.step()
    assert torch.allclose(twin, parameter, atol=1e-6)


def test_apex_scales_and_measures(gpus: None) -> None:
    import amp_C

    flag = torch.zeros(1, dtype=torch.int, device="cuda")
    source = [torch.tensor([3.0], device="cuda"), torch.tensor([4.0], device="cuda")]
    target = [torch.zeros_like(tensor) for tensor in source]
    amp_C.multi_tensor_scale(65536, flag, [source, target], 2.0)
    assert [tensor.item() for tensor in target] == [6.0, 8.0] and flag.item() == 0
    norm, each = amp_C.multi_tensor_l2norm(65536, flag, [source], True)
    assert norm.item() == 5.0 and each.tolist() == [3.0, 4.0]
    amp_C.multi_tensor_scale(65536, flag, [[source[0] / 0], [target[0]]], 1.0)
    assert flag.item() == 1
