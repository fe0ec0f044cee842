import torch
from torch import nn


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 3)
        self.both = [self.a, self.b]

    def forward(self, x):
        for layer in self.both:
            x = layer(x)
        return x


twin = Twin().to("cuda")
print(twin(torch.rand(1, 3).to("cuda")))
