import torch
from torch import nn

class Weighed(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.head = nn.Linear(4, classes)
        self.weights = torch.ones(classes)  # finds: unregistered-tensor

    def forward(self, x, labels):
        scale = torch.ones(len(x), device=x.device)
        return (self.head(x).sum(1) * scale * self.weights[labels.cpu()]).mean()

net = Weighed(3).to("cuda")
print(net(torch.rand(2, 4, device="cuda"), torch.tensor([0, 2], device="cuda")))
