# With `main_device="cpu"` what a map puts on the host keeps its memory and runs there: it can be copied.
import torch
from accelerate import dispatch_model
from torch import nn


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.Linear(3, 4)
        self.rows = nn.Embedding(5, 4)

    def forward(self, x):
        held = self.read(x)
        return held @ self.rows.weight.t().to(held.device)


net = dispatch_model(Ranker(), device_map={"read": 0, "rows": "cpu"}, main_device="cpu")
print(net(torch.rand(2, 3).to("cuda:0")))
