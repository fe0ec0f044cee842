# devices: cuda:0,cpu
# causes: input-not-moved
import dataclasses
import torch
from torch import nn
from torch.utils.data import DataLoader

@dataclasses.dataclass
class Pair:
    heard: torch.Tensor
    wanted: torch.Tensor

def paired(rows):
    return Pair(torch.stack([torch.rand(4) for _ in rows]), torch.stack([torch.rand(1) for _ in rows]))

def distance(guessed, pair):
    centred = (pair.wanted - 1) / 2  # here
    return ((guessed - centred) ** 2).mean()  # fails

device = torch.device("cuda")
net = nn.Linear(4, 1).to(device)
for pair in DataLoader(range(8), batch_size=4, collate_fn=paired):
    heard = pair.heard.to(device)
    distance(net(heard), pair).backward()
