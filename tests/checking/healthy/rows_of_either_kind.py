import torch
from torch import nn

import mydata


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(4, 1))

    def forward(self, texts):
        rows = []
        for text in texts:
            value = mydata.measured(text)
            if isinstance(value, torch.Tensor):
                rows.append(value)
            else:
                rows.append(torch.as_tensor(value, dtype=torch.float32))
        return torch.stack(rows) @ self.weight
