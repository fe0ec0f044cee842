# cause: offloaded-to-cpu
# spot: self.table.weight
# devices: z.device
import torch
from torch import nn


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 4)

    def nearest(self, z):
        rows = self.table(torch.arange(self.table.num_embeddings, device=z.device))
        return (rows.pow(2).sum(-1) - 2 * z @ rows.t()).argmin(-1)
