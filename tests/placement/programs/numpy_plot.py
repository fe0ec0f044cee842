# devices: cuda:0
# causes: host-copy-needed
import numpy as np
import torch
from torch import nn
from sklearn.metrics import f1_score

def evaluate(model, loader, device):
    ys, ps = [], []
    for x, y in loader:
        p = model(x.to(device)).argmax(1)
        ps.extend(p)
        ys.extend(y)
    return f1_score(np.array(ys), torch.stack(ps).numpy(), average="macro")  # fails # here

net = nn.Linear(3, 2).to("cuda")
evaluate(net, [(torch.rand(2, 3), torch.tensor([0, 1]))], "cuda")
