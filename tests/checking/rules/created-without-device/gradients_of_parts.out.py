import torch
from torch import nn


def blank(weights):
    return [torch.zeros(one.shape, device=one.device) for one in weights]  # finds: created-without-device


net = nn.Linear(3, 2).to("cuda")
kept = blank(net.parameters())
for _ in range(2):
    loss = net(torch.rand(4, 3, device="cuda")).square().sum()
    gradients = torch.autograd.grad(loss, list(net.parameters()))
    with torch.no_grad():
        for weight, gradient, mean in zip(net.parameters(), gradients, kept):
            weight -= 0.1 * (gradient - mean)
    print(loss.item())
