# devices: cpu,cuda:0
# causes: checkpoint-location
import torch
import torch.nn as nn

class Normalizer:
    def __init__(self, path):
        stats = torch.load(path, map_location="cpu")  # here
        self.mean, self.std = stats["mean"], stats["std"]
    def __call__(self, x):
        return (x - self.mean) / self.std  # fails

norm = Normalizer("stats.pt")
model = nn.Linear(3, 1).to("cuda")
x = torch.rand(5, 3).to("cuda")
model(norm(x))
