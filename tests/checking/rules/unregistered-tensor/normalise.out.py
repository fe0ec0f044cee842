import torch
import torch.nn as nn


class Normalise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean).view(-1, 1, 1), persistent=False)  # finds: unregistered-tensor
        self.register_buffer("std", torch.tensor(std).view(-1, 1, 1), persistent=False)  # finds: unregistered-tensor

    def forward(self, img):
        return (img - self.mean) / self.std


norm = Normalise([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
norm.to("cuda")
img = torch.rand(1, 3, 8, 8).to("cuda")
out = norm(img)
