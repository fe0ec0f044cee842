import torch
from torch import nn
from torch.ao.quantization import quantize_dynamic

class Price(nn.Module):
    def __init__(self):
        super().__init__()
        self.size = nn.Linear(2, 8)
        self.out = nn.Linear(8, 1)
    def forward(self, x):
        return self.out(self.size(x).relu())

device = torch.device("cuda")
price = Price().to(device)
houses = torch.rand(6, 2)
full = price(houses.to(device)).cpu()
small = quantize_dynamic(price.cpu().eval(), {nn.Linear}, dtype=torch.qint8)
print((small(houses) - full).abs().max())
convs = quantize_dynamic(nn.Sequential(nn.Conv1d(1, 2, 3)).eval(), {nn.Linear})
print(convs.to(device)(torch.rand(1, 1, 9, device=device)).shape)
price.to(device)
print(price(houses.to(device)).mean() - small(houses).mean().to(device))
