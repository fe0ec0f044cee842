"""An adversarial loss fills its targets on the current GPU, and the discriminator is on another.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes the device from the logits and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class PatchAdversarialLoss(nn.Module):
    def __init__(self, variant, reduction="mean"):
        super().__init__()
        self.real_label, self.fake_label = 1.0, 0.0
        self.loss_fct = nn.MSELoss(reduction=reduction)
        self.variant = variant

    def get_target_tensor(self, logits, target_is_real):
        filling_label = self.real_label if target_is_real else self.fake_label
        label_tensor = torch.tensor([filling_label])
        device = logits.device if self.variant == "fixed" else "cuda"
        return label_tensor.to(device).expand_as(logits)

    def forward(self, logits, target_is_real):
        if not isinstance(logits, list):
            logits = [logits]
        targets = [self.get_target_tensor(scale, target_is_real) for scale in logits]
        losses = [self.loss_fct(x, y) for x, y in zip(logits, targets, strict=True)]
        return torch.stack(losses).mean()


class MultiScalePatchDiscriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = nn.ModuleList([nn.Conv2d(1, 1, 4, stride=s) for s in (2, 4)])

    def forward(self, image):
        return [scale(image) for scale in self.scales]


def main(variant):
    device = torch.device("cuda:1")
    discriminator = MultiScalePatchDiscriminator().to(device)
    adv_loss = PatchAdversarialLoss(variant)
    images, reconstruction = (torch.rand(2, 1, 16, 16, device=device) for _ in range(2))
    loss = adv_loss(discriminator(images), target_is_real=True)
    loss = loss + adv_loss(discriminator(reconstruction), target_is_real=False)
    loss.backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
