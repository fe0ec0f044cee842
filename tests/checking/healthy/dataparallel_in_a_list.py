import torch
from torch import nn


class Blend(nn.Module):
    def __init__(self, kinds):
        super().__init__()
        self.readers = []
        for kind in kinds:
            reader = kind(4, 4).cuda()
            reader = nn.DataParallel(reader)
            self.readers.append(reader)
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        found = [reader(x) for reader in self.readers]
        return self.fc(torch.cat(found, 1))


blend = Blend([nn.Linear, nn.Linear]).cuda()
print(blend(torch.rand(4, 4).cuda()).shape)
