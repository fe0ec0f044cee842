# devices: cuda:0,cpu
# causes: generator-device
import torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

DEVICE = torch.device("cuda")
RNG = torch.Generator(device=DEVICE)  # here
RNG.manual_seed(1)

def loaders(n):
    ds = TensorDataset(torch.arange(n))
    train, val = torch.utils.data.random_split(ds, [n - 4, 4], generator=RNG)  # fails
    return DataLoader(train, batch_size=2), DataLoader(val)
loaders(10)
