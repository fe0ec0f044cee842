# devices: cuda:0,cpu
# causes: loss-or-metric-state
import torch
from torch import nn
import numpy as np

def class_weights(labels, n):
    counts = np.bincount(labels, minlength=n)
    return torch.tensor(counts.sum() / (n * counts), dtype=torch.float32)

def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    labels = np.random.randint(0, 3, 100)
    model = nn.Linear(10, 3).to(device)
    criterion = nn.CrossEntropyLoss(weight=class_weights(labels, 3))  # here
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(2):
        x = torch.randn(4, 10, device=device)
        y = torch.randint(0, 3, (4,), device=device)
        loss = criterion(model(x), y)  # fails
        loss.backward()
        opt.step()
main()
