from contextlib import contextmanager
import torch
from torch import nn

device = torch.device("cuda")

@contextmanager
def evaluating(model):
    was = model.training
    model.eval()
    yield model.to(device)
    model.train(was)

def score(model, batches):
    with evaluating(model) as net, torch.no_grad():
        return [net(x).mean().item() for x in batches]

net = nn.Linear(4, 1)
with evaluating(net) as ready:
    print(ready(torch.rand(2, 4)))  # finds: input-not-moved
