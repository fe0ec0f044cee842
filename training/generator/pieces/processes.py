"""Kernels of gpytorch between the batch and inducing points."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from ..model import Field, Piece

_DEFS = '''
class {name}(nn.Module):
    """Features of a batch: how near it is to the inducing points, by a kernel."""

    def __init__(self, points=10, width=8):
        super().__init__()
        self.inducing = nn.Parameter(torch.randn(points, width))
        self.kernel = {kernel}

    def forward(self, x):
        return self.kernel(x, self.inducing).to_dense()
'''


def pieces(rng: Random) -> Iterator[Piece]:
    """Every kernel that needs nothing, bare and scaled."""
    try:
        from gpytorch import kernels
    except ImportError:
        return
    made = [
        (name, scaled)
        for name in kernels.__all__
        if name.endswith("Kernel") and name not in ("Kernel", "ScaleKernel")
        for scaled in (False, True)
    ]
    rng.shuffle(made)
    for kernel, scaled in made:
        given = "ard_num_dims=8" if rng.random() < 0.3 else ""
        built = f"kernels.{kernel}({given})"
        name = rng.choice(("InducingFeatures", "KernelFeatures", "SparseGP"))
        yield Piece(
            "gpytorch",
            kernel.lower(),
            kernel,
            ("from gpytorch import kernels",),
            f"{name}()",
            (Field("x", "torch.randn($n, 8)"),),
            "$body(x)",
            defs=_DEFS.format(
                name=name, kernel=f"kernels.ScaleKernel({built})" if scaled else built
            ),
        )
