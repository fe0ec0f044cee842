from accelerate import Accelerator
import torch
from torch import nn

accelerator = Accelerator()
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(torch.rand(8, 4), batch_size=4)
model, opt, loader = accelerator.prepare(model, opt, loader)
for x in loader:
    loss = model(x).pow(2).mean()
    accelerator.backward(loss)
    opt.step()
