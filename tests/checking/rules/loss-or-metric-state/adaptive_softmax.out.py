import torch
from torch import nn

device = torch.device("cuda")
body = nn.Embedding(100, 16).to(device)
loss_fn = nn.AdaptiveLogSoftmaxWithLoss(16, 100, cutoffs=[10, 40]).to(device)  # finds: loss-or-metric-state
opt = torch.optim.SGD([*body.parameters(), *loss_fn.parameters()], lr=0.1)
for step in range(2):
    words = torch.randint(100, (12,), device=device)
    loss = loss_fn(body(words), words.roll(1)).loss
    opt.zero_grad()
    loss.backward()
    opt.step()
