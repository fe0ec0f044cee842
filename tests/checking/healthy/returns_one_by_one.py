# What is taken out of a row of returns is a number, which mixes with what is on the GPU.
import torch
from torch import nn

net = nn.Linear(3, 2).to("cuda")
logs = [net(torch.rand(3).cuda()).log_softmax(0)[0] for _ in range(3)]
returns = []
for reward in (1.0, 0.5, 2.0):
    returns.insert(0, reward)
returns = torch.tensor(returns)
returns = (returns - returns.mean()) / returns.std()
print(sum(-log * gain for log, gain in zip(logs, returns)))
for log, gain in zip(logs, returns):
    print(-log * gain)
