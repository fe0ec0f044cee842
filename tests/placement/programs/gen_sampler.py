# devices: cuda:0,cpu
# causes: generator-device
import torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset, WeightedRandomSampler

g = torch.Generator("cuda")  # here
ds = TensorDataset(torch.arange(10))
sampler = WeightedRandomSampler(torch.ones(10), 10, generator=g)
for x, in DataLoader(ds, sampler=sampler, batch_size=2):  # fails
    print(x)
