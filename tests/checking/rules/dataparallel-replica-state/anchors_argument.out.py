import torch
from torch import nn

class Head(nn.Module):
    def __init__(self, anchors):
        super().__init__()
        self.register_buffer("anchors", anchors, persistent=False)  # finds: dataparallel-replica-state
        self.delta = nn.Linear(16, 4)

    def forward(self, feats):
        return self.anchors + self.delta(feats)

device = torch.device("cuda:0")
head = Head(torch.rand(4, device=device)).to(device)
model = nn.DataParallel(head, device_ids=[0, 1])
print(model(torch.randn(6, 16, device=device)))
