import torch
from torch import nn

encoder = nn.GRU(4, 4).to("cuda:0")
decoder = nn.GRU(4, 4).to("cuda:1")
source, target = torch.rand(3, 1, 4).to("cuda:0"), torch.rand(2, 1, 4).to(next(decoder.parameters()).device)  # finds: input-on-wrong-shard
out, state = encoder(source)
decoder(target, state.to("cuda:1"))
