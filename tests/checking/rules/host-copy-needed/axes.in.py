import matplotlib.pyplot as plt
import torch
from torch import nn

net = nn.Linear(4, 4).cuda()
scores = net(torch.ones(4, 4, device="cuda")).detach()  # finds: host-copy-needed
picture, panels = plt.subplots(1, 2)
panels[0].imshow(scores)
panels[1].set_title(str(scores))
