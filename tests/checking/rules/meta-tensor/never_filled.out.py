import torch
from torch import nn

with torch.device("meta"):  # finds: meta-tensor
    embed = nn.Embedding(10, 4)
head = nn.Linear(4, 2).to(next(embed.parameters()).device)
ids = torch.tensor([1, 2]).to(next(embed.parameters()).device)
print(head(embed(ids)))
