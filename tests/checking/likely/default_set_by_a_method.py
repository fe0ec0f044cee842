import torch
from torch import nn


class Sculptor(nn.Module):
    def __init__(self):
        super().__init__()
        self.shape = nn.Linear(8, 3).cuda()

    def begin(self):
        torch.set_default_tensor_type("torch.cuda.FloatTensor")

    def normals(self, x):
        flat = self.shape(x)
        up = torch.ones(x.size(0), 1)  # finds: created-without-device
        return torch.cat([flat, up], 1)
