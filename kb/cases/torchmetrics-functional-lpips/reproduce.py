"""A functional metric builds its network inside the call, on the cpu, whatever the images are on.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the network to the images' device and prints "fixed: ok".
The class of the same metric holds the network, so there the caller's .to() reaches it. The network
has one slice and random weights.
"""

import sys

import torch
from torch import nn


class _LPIPS(nn.Module):
    def __init__(self):
        super().__init__()
        self.slice1 = nn.Conv2d(3, 4, kernel_size=3, padding=1)
        self.lin0 = nn.Conv2d(4, 1, kernel_size=1, bias=False)

    def forward(self, in0, in1):
        feats0, feats1 = self.slice1(in0), self.slice1(in1)
        return self.lin0((feats0 - feats1).square()).mean(dim=(2, 3), keepdim=True)


def _lpips_update(img1, img2, net):
    loss = net(2 * img1 - 1, 2 * img2 - 1).squeeze()
    return loss, img1.shape[0]


def learned_perceptual_image_patch_similarity(img1, img2, variant):
    net = _LPIPS()
    if variant == "fixed":
        net = net.to(device=img1.device, dtype=img1.dtype)
    loss, total = _lpips_update(img1, img2, net)
    return loss.sum() / total


def main(variant):
    torch.manual_seed(0)
    result = torch.rand(2, 3, 16, 16, device="cuda:0")
    target = torch.rand(2, 3, 16, 16, device="cuda:0")
    learned_perceptual_image_patch_similarity(result, target, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
