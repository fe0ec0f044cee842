import torch
from torch import nn

device = torch.device("cuda")
encoder = nn.Linear(4, 4)
decoder = nn.Linear(4, 4)
model = nn.Sequential(encoder, decoder).to(device)
x = torch.rand(1, 4, device=device)
print(decoder(encoder(x)))
