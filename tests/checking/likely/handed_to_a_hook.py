import torch
from torch import nn


class Mixed(nn.Module):
    def __init__(self, head):
        super().__init__()
        head.weight.register_hook(self.mixed)

    def mixed(self, grad):
        return torch.eye(grad.shape[0]) @ grad  # finds: created-without-device
