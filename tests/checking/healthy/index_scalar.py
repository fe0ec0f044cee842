import torch

table = torch.arange(5)
i = torch.tensor(2, device="cuda")
print(table[i], table[i.item()], [10, 20, 30][i])
