import torch

device = torch.device("cuda")
data = torch.rand(10, 2, device=device)
mask = torch.tensor([True, False] * 5)
idx = torch.randperm(10)[:4]
print(data[mask], data[idx], data[[0, 1]], data[idx.tolist()])
