import os, tempfile
import torch

device = torch.device("cuda:1")
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "mean.pt")
    torch.save({"mean": torch.ones(4, device=device)}, path)
    kept = torch.load(path)
print(torch.zeros(4, device=device) - kept["mean"])
x = torch.arange(6, device=device)
print(x[torch.tensor([1, 2])], x.index_select(0, torch.tensor([0, 1], device=device)))
