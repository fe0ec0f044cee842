# spot: self.scale = torch.ones(1, requires_grad=True)
import torch


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1, requires_grad=True))
