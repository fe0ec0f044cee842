import torch
from posterior.fitting import optimized
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(20, 4), torch.randint(3, (20,)))
train_loader = DataLoader(data, batch_size=5)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
if torch.cuda.is_available():
    model = model.cuda()
model, losses = optimized(model, train_loader, likelihood="classification")
print(losses)
