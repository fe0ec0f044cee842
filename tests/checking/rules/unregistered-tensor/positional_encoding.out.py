import math
import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=50):
        super().__init__()
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0), persistent=False)  # finds: unregistered-tensor

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]


device = torch.device("cuda")
layer = nn.Sequential(nn.Linear(8, 8), PositionalEncoding(8)).to(device)
print(layer(torch.rand(2, 10, 8, device=device)).shape)
