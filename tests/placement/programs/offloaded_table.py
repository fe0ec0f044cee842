# devices: cuda:0,meta
# causes: offloaded-to-cpu
import torch
from accelerate import cpu_offload
from torch import nn

class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 4)
        self.body = nn.Linear(4, 4)

    def nearest(self, z):
        rows = self.table.weight  # here
        far = rows.pow(2).sum(-1) - 2 * z @ rows.t()  # fails
        return far.argmin(-1)

    def forward(self, x):
        return self.nearest(self.body(x))

words = cpu_offload(Words().eval(), execution_device=torch.device("cuda:0"))
words(torch.rand(2, 4).to("cuda:0"))
