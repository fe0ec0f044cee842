import torch
from torch import nn

image = nn.Linear(8, 4).to("cuda:0")
text = nn.Embedding(20, 4).to("cuda:1")
a = image(torch.rand(2, 8).to("cuda:0"))
b = text(torch.tensor([1, 2]).to("cuda:1"))
score = a @ b.t().to(a.device)  # finds: cross-shard-op
