import torch

torch.save([1, 2, 3], "list.pt")
items = torch.load("list.pt")
print(sum(items))
