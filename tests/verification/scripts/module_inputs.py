import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 4)

    def forward(self, input_ids, scale):
        return self.words(input_ids) * scale


batch = {"input_ids": torch.zeros(2, 3, dtype=torch.long), "scale": torch.tensor(2.0)}
if sys.argv[1] == "fixed":
    batch["input_ids"] = batch["input_ids"].cuda()
Model().cuda()(**batch)
