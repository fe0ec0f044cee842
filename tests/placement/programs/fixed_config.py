# devices: cuda:1,cuda:0
# causes: hardcoded-device
from dataclasses import dataclass
import torch
from torch import nn

@dataclass
class Config:
    model_device: str = "cuda:1"
    data_device: str = "cuda:0"  # here

def batches(cfg):
    for _ in range(3):
        yield torch.rand(4, 3).to(cfg.data_device)

cfg = Config()
net = nn.Linear(3, 1).to(cfg.model_device)
for b in batches(cfg):
    net(b)  # fails
