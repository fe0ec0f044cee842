# stage offload: only one model is on the card
import torch
import torch.nn as nn

coarse, fine = nn.Linear(4, 4), nn.Linear(4, 4)
x = torch.rand(2, 4).cuda()
coarse.cuda()
y = coarse(x)
coarse.to("cpu")  # finds: offloaded-to-cpu
fine.cuda()
y = fine(y)
print(coarse(y))
