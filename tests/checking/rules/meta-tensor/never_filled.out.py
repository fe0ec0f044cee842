import torch
from torch import nn

with torch.device("cuda"):  # finds: meta-tensor
    embed = nn.Embedding(10, 4)
head = nn.Linear(4, 2).cuda()
ids = torch.tensor([1, 2]).cuda()
print(head(embed(ids)))
