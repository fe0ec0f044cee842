import numpy as np
from torch import nn


class Painter:
    def __init__(self, settings):
        self.gpu_mode = settings.gpu_mode
        self.net = nn.Linear(8, 16).cuda()

    def save(self, noise, path):
        drawn = self.net(noise.cuda())
        if self.gpu_mode:
            pixels = drawn.cpu().detach().numpy()
        else:
            print(path)
            pixels = drawn.detach().numpy()  # finds: host-copy-needed
        np.save(path, pixels)
