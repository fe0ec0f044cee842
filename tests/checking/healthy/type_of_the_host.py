import torch
from torch import nn


class Hardest(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, 4)

    def forward(self, images, captions):
        scores = self.embed(images) @ captions.t()
        harder = scores > torch.diag(scores).view(-1, 1)
        _, index = scores.max(dim=1)
        index = index.data.cpu()
        exists = (harder.sum(dim=1) > 0).type(torch.LongTensor)
        other = torch.LongTensor([1, 2, 0])
        return exists * index + (1 - exists) * other


model = Hardest().cuda()
print(model(torch.randn(3, 4).cuda(), torch.randn(3, 4).cuda()))
