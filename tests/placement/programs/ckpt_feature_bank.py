# devices: cuda:0,cuda:1
# causes: checkpoint-location
import torch
from torch import nn

device = torch.device("cuda:1")
enc = nn.Linear(4, 8).to(device)
bank = torch.load("bank.pt")  # here
q = enc(torch.rand(2, 4, device=device))
sim = q @ bank["features"].t()  # fails
