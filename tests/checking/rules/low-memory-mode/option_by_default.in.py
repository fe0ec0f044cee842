import argparse
import torch
from torch import nn

def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--lowvram", action="store_true")
    p.add_argument("--no-lowvram", dest="lowvram", action="store_false")
    p.set_defaults(lowvram=True)
    p.add_argument("--n", type=int, default=2)
    return p.parse_args()

class Upscaler:
    def __init__(self):
        self.net = nn.Conv2d(3, 3, 3, padding=1).cuda()
    def __call__(self, picture):
        return self.net(picture.cuda())
    def rest(self):
        self.net.cpu()  # finds: low-memory-mode

opt = get_args()
up = Upscaler()
y = torch.rand(1, 3, 8, 8)
for i in range(opt.n):
    y = up(y)
    if opt.lowvram:
        up.rest()
print(y.mean().item())
