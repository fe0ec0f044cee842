"""Which operands of the failing line may be the misplaced one, as the whole report tells."""

from __future__ import annotations

import pytest

from diagnose.casebase.store import Casebase
from diagnose.parsing import parse
from diagnose.scene import Scene

SITE = "/usr/lib/python3.12/site-packages/torch"
#: torch's own lines between the user's and the error, by where it failed.
INSIDE = {
    "": "",
    "layer": f"""
  File "{SITE}/nn/modules/linear.py", line 125, in forward
    return F.linear(input, self.weight, self.bias)""",
    "recurrent": f"""
  File "{SITE}/nn/modules/rnn.py", line 1300, in forward
    ret = _VF.lstm_cell(""",
    "criterion": f"""
  File "{SITE}/nn/modules/loss.py", line 1385, in forward
    return F.cross_entropy(""",
    "dispatch": f"""
  File "{SITE}/_prims_common/__init__.py", line 600, in check_same_device
    raise RuntimeError(msg)""",
}
INDICES = (
    "RuntimeError: indices should be either on cpu or on the same device as the indexed tensor"
)
FOUND = "RuntimeError: Expected all tensors to be on the same device, but got"


def strays(casebase: Casebase, code: str, message: str, inside: str = "") -> dict[str, str | None]:
    """The operands with their devices."""
    marked, _, _ = code.partition("\n")
    text = f"""Traceback (most recent call last):
  File "/home/me/kelp/grow.py", line 31, in grow
    {marked}
{code.partition(chr(10))[2]}{INSIDE[inside]}
{message}
"""
    report = parse(
        "\n".join(line for line in text.split("\n") if line).encode(), knowledge=casebase.knowledge
    )
    met = Scene(report, casebase.knowledge).met
    return {one.text: one.device for one in met.strays} if met is not None else {}


@pytest.mark.parametrize(
    ("code", "message", "inside", "expected"),
    [
        (
            "depths = self.chart[stations]",
            f"{INDICES} (cpu)",
            "",
            {"stations": None, "self.chart": "cpu"},
        ),
        ("tides = log[:, hour, 0]", f"{INDICES} (cuda:0)", "", {"hour": None, "log": "cuda:0"}),
        ("both = chart[stations], log[hours]", f"{INDICES} (cpu)", "", {}),
        ("first = chart[0], chart[1:]", f"{INDICES} (cpu)", "", {}),
        (
            "order = torch.randperm(40, generator=self.dice)",
            "RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'",
            "",
            {"self.dice": "cpu"},
        ),
        (
            "curve = smooth(fronds.detach().numpy(), 3)",
            "TypeError: can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to"
            " host memory first.",
            "",
            {"fronds": "cuda:0"},
        ),
        (
            "table = np.stack(rows.data)",
            "TypeError: can't convert cuda:1 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to"
            " host memory first.",
            "",
            {"rows": "cuda:1"},
        ),
        (
            "song = torch.stft(wave, 512, window=bell, return_complex=True)",
            "RuntimeError: stft input and window must be on the same device but got self on cuda:0 and window on cpu",
            "",
            {"bell": "cpu"},
        ),
        (
            'votes = torch.einsum("bi,oi->bo", x, self.turn)',
            f"{FOUND} mat2 is on cpu, different from other tensors on cuda:1 (when checking argument in method"
            " wrapper_CUDA_bmm)",
            "",
            {"self.turn": "cpu"},
        ),
        (
            'votes = torch.einsum("bi,oi,o->bo", x, self.turn, share)',
            f"{FOUND} mat2 is on cpu, different from other tensors on cuda:1 (when checking argument in method"
            " wrapper_CUDA_bmm)",
            "",
            {},
        ),
        (
            "packed = pack_padded_sequence(stems, heights, batch_first=True)",
            "RuntimeError: 'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
            "",
            {"heights": "cuda:0"},
        ),
        (
            "mixed = torch.cat((water, salt, light), dim=1)",
            "RuntimeError: Expected object of backend CUDA but got backend CPU for sequence element 1 in sequence"
            " argument at position #1 'tensors'",
            "",
            {"salt": "CPU"},
        ),
        (
            "wave, _ = self.mix(x, x, x, attn_mask=shade)",
            f"{FOUND} attn_bias is on cuda:0, different from other tensors on cuda:1 (when checking argument in"
            " method wrapper_CUDA__scaled_dot_product_efficient_attention)",
            "layer",
            {"shade": "cuda:0"},
        ),
        (
            "cost = self.cost(out.view(-1, 4), kinds)\n           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
            f"{FOUND} weight is on cpu, different from other tensors on cuda:0 (when checking argument in method"
            " wrapper_CUDA_nll_loss_forward)",
            "criterion",
            {"self.cost": "cpu"},
        ),
        (
            "grown = self.stem(x)",
            "RuntimeError: Tensor on device cuda:0 is not on the expected device meta!",
            "layer",
            {"self.stem": None},
        ),
        (
            "grown = size * self.rate\n            ~~~~~^~~~~~~~~~~",
            "RuntimeError: Tensor on device meta is not on the expected device cuda:0!",
            "dispatch",
            {"self.rate": "meta"},
        ),
        (
            "out = self.model(x)",
            "RuntimeError: module must have its parameters and buffers on device cuda:0 (device_ids[0]) but found"
            " one of them on device: cpu",
            "layer",
            {"self.model": None},
        ),
        (
            "state = self.cell(food, state)",
            f"{FOUND} mat2 is on cuda:0, different from other tensors on cpu (when checking argument in method"
            " wrapper_CUDA_mm)",
            "recurrent",
            {"food": "cpu", "state": None},
        ),
        (
            "state = self.cell(food, state)",
            f"{FOUND} mat2 is on cuda:0, different from other tensors on cpu (when checking argument in method"
            " wrapper_CUDA_mm)",
            "layer",
            {"food": "cpu"},
        ),
    ],
)
def test_the_line_shows_what_the_message_is_of(
    casebase: Casebase, code: str, message: str, inside: str, expected: dict[str, str | None]
) -> None:
    assert strays(casebase, code, message, inside) == expected
