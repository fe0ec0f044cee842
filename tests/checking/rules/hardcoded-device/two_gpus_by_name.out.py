import torch
import torch.nn as nn

encoder = nn.Linear(8, 4).to("cuda:0")
decoder = nn.Linear(4, 8).to("cuda:1")
x = torch.randn(2, 8).to("cuda:0")
z = encoder(x)
y = decoder(z.to(next(decoder.parameters()).device))  # finds: hardcoded-device|cross-shard-op
