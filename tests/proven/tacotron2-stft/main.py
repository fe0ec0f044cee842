import torch
from overlap import Overlap

device = "cuda" if torch.cuda.is_available() else "cpu"
overlap = Overlap().to(device)
with torch.no_grad():
    print(overlap(torch.rand(1, 8, 5, device=device)).shape)
