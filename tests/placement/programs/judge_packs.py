# devices: cpu,cuda:0
# causes: input-not-moved
import torch
from torch import nn

class Judge:
    def __init__(self, where):
        self.net = nn.Embedding(9, 1).to(where)

    @staticmethod
    def pack(texts):
        rows = torch.zeros(len(texts), 4, dtype=torch.long)
        return rows, rows != 0

    def __call__(self, texts):
        rows, mask = self.pack(texts)  # here
        return self.net(rows).squeeze(-1) * mask  # fails

class Learner:
    def __init__(self, where):
        self.where = where
        self.judge = Judge(where)

    def update(self, ids):
        ids = ids.to(self.where)
        return self.judge(ids.tolist()) + ids.sum()

Learner("cuda").update(torch.ones(2, 4))
