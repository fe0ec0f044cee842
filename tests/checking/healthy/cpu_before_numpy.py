import numpy as np
import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 2).to(device)
out = net(torch.rand(3, 4, device=device))
print(out.detach().cpu().numpy(), np.array(out.tolist()), out.to("cpu").detach().numpy())
print(np.mean([o.item() for o in out[:, 0]]), out.numpy(force=True))
