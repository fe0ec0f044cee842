from contextlib import contextmanager
import torch
from torch import nn

@contextmanager
def on_card(model):
    model.to("cuda")
    yield model
    model.to("cpu")  # offload

net = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
batch = torch.rand(5, 3, device="cuda")
with on_card(net) as m:  # finds: offloaded-to-cpu
    first = m(batch)
print(net(batch) - first)
