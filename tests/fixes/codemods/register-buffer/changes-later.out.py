# spot: self.seen = torch.zeros(size)
import torch


class Net(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("seen", torch.zeros(size), persistent=False)

    def forward(self, x):
        self.seen[0].add_(1)
        return x - self.seen
