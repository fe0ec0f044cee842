import io
import torch
from torch import nn

device = torch.device("cuda:0")
buffer = io.BytesIO()
torch.save({"mean": torch.zeros(4)}, buffer)
buffer.seek(0)
stats = torch.load(buffer)  # finds: checkpoint-location
net = nn.Linear(4, 4).to(device)
x = torch.rand(2, 4).to(device)
print(net(x - stats["mean"]))
