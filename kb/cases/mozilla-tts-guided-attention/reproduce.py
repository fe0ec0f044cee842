"""torch.arange of a length that is on the GPU gives a range on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` passes the length's device and prints "fixed: ok".
The mask of a guided attention loss, as in Tacotron 2. A length taken from a tensor of lengths is a
tensor with one element; arange only reads its value.
"""

import sys

import torch


class GuidedAttentionLoss(torch.nn.Module):
    def __init__(self, variant, sigma=0.4):
        super().__init__()
        self.variant = variant
        self.sigma = sigma

    def _make_ga_masks(self, ilens, olens):
        masks = torch.zeros(len(ilens), int(max(ilens)), int(max(olens)), device=ilens.device)
        for idx, (ilen, olen) in enumerate(zip(ilens, olens, strict=True)):
            masks[idx, :ilen, :olen] = self._make_ga_mask(ilen, olen).mT
        return masks

    def _make_ga_mask(self, ilen, olen):
        device = None if self.variant == "failing" else olen.device
        grid_x, grid_y = torch.meshgrid(
            torch.arange(olen, device=device), torch.arange(ilen, device=device), indexing="ij"
        )
        return 1.0 - torch.exp(-((grid_y / ilen - grid_x / olen) ** 2) / (2 * self.sigma**2))

    def forward(self, att_ws, ilens, olens):
        return (self._make_ga_masks(ilens, olens) * att_ws).mean()


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    att_ws = torch.rand(2, 5, 7, device=device)
    ilens, olens = torch.tensor([5, 4], device=device), torch.tensor([7, 6], device=device)
    GuidedAttentionLoss(variant)(att_ws, ilens, olens)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
