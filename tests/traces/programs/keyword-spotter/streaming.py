import torch
from torch import nn


class StreamingConv(nn.Module):
    """A causal convolution that keeps the end of the last chunk for the next one."""

    def __init__(self, channels, kernel):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, kernel)
        self.kernel = kernel
        self.history = []

    def start(self, batch, device):
        self.history = [torch.zeros(batch, self.conv.in_channels, self.kernel - 1, device=device)]

    def forward(self, chunk):
        padded = torch.cat([self.history[-1][: len(chunk)], chunk], dim=-1)
        self.history.append(padded[..., -(self.kernel - 1) :].detach())
        return torch.relu(self.conv(padded))
