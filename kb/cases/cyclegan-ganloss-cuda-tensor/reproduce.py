"""Labels from torch.cuda.FloatTensor are on the current GPU, predictions on the chosen one.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the labels beside the predictions and prints "fixed: ok".
``torch.zeros(..., device="cuda")`` stands for the constructor of the time: it has the same device.
"""

import sys

import torch
from torch import nn


class GANLoss(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.variant = variant
        self.loss = nn.MSELoss()

    def get_target_tensor(self, input, target_is_real):
        if self.variant == "failing":
            return torch.zeros(input.shape, device="cuda").fill_(float(target_is_real))
        return torch.full_like(input, float(target_is_real))

    def forward(self, input, target_is_real):
        target_tensor = self.get_target_tensor(input, target_is_real)
        return self.loss(input, target_tensor)


def main(variant):
    torch.manual_seed(0)
    gpu_ids = [1]
    netD = nn.Conv2d(3, 1, 4).cuda(gpu_ids[0])
    criterionGAN = GANLoss(variant)
    pred_fake = netD(torch.randn(1, 3, 8, 8).cuda(gpu_ids[0]))
    loss_D_fake = criterionGAN(pred_fake, False)
    loss_D_fake.backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
