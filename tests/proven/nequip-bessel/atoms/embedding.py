from atoms.basis import Bessel
from torch import nn


class EdgeEmbedding(nn.Module):
    """How far two atoms are apart, as a vector that ends at a radius."""

    def __init__(self, r_max, trainable):
        super().__init__()
        self.r_max = r_max
        self.basis = Bessel(r_max, trainable=trainable)

    def forward(self, lengths):
        near = (1 - lengths / self.r_max).clamp(min=0) ** 2
        return self.basis(lengths) * near[..., None]
