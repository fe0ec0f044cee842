"""Preprocessing for a VGG loss subtracts a mean that has the image's dtype and not its device.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the mean on the image's device and prints "fixed: ok".
The losses of UNIT's generator are reduced to the one that calls vgg_preprocess.
"""

import sys

import torch
from torch import nn


def vgg_preprocess(batch, variant):
    (red, green, blue) = torch.chunk(batch, 3, dim=1)
    batch = torch.cat((blue, green, red), dim=1)
    batch = (batch + 1) * 255 * 0.5
    where = {} if variant == "failing" else {"device": batch.device}
    mean = torch.empty(batch.shape, dtype=batch.dtype, **where)
    mean[:, 0], mean[:, 1], mean[:, 2] = 103.939, 116.779, 123.680
    batch = batch.sub(mean)
    return batch


class UNIT_Trainer(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.variant = variant
        self.gen_a = nn.Conv2d(3, 3, kernel_size=1)
        self.vgg = nn.Conv2d(3, 4, kernel_size=3)

    def compute_vgg_loss(self, vgg, img, target):
        img_vgg = vgg_preprocess(img, self.variant)
        target_vgg = vgg_preprocess(target, self.variant)
        return (vgg(img_vgg) - vgg(target_vgg)).square().mean()

    def gen_update(self, x_a, x_b):
        x_ba = self.gen_a(x_b)
        self.loss_gen_vgg_a = self.compute_vgg_loss(self.vgg, x_ba, x_b)
        self.loss_gen_vgg_a.backward()


def main(variant):
    torch.manual_seed(0)
    trainer = UNIT_Trainer(variant).cuda()
    images_a, images_b = (torch.rand(1, 3, 8, 8).cuda() for _ in range(2))
    trainer.gen_update(images_a, images_b)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
