import sys

import numpy as np
from photos import Photos
from torch import nn
from torch.utils.data import DataLoader

net = nn.Conv2d(3, 3, 1).cuda()
for photo, name in DataLoader(Photos(sys.argv[1]), batch_size=4):
    photo = photo.cuda()
    print(name, net(photo).mean().item())
    print(np.asarray(photo).std())  # finds: host-copy-needed
