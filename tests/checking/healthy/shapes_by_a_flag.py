# What a flag turns on is right, too, and what stands in for an argument that is left out is made beside the rest.
import torch


def padded(rows: torch.Tensor, left: int = 0, mask: torch.Tensor = None) -> torch.Tensor:
    if mask is None:
        mask = torch.ones(rows.shape[0], device=rows.device)
    if left > 0:
        rows = torch.cat([rows.new_zeros(left), rows])
        mask = torch.cat([torch.zeros(left).to(mask), mask])
    return rows * mask


class Smooth(torch.nn.Module):
    def __init__(self, width=5, trained=False):
        super().__init__()
        window = torch.ones(width) / width
        if trained:
            self.window = torch.nn.Parameter(window)
        else:
            self.register_buffer("window", window)

    def forward(self, rows):
        return rows * self.window
