"""The configuration of the authors' machine names GPUs that this machine does not have.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the error about the device's
number, ``python reproduce.py fixed`` names the GPUs that are there and prints "fixed: ok".
"""

import sys
from types import SimpleNamespace

import torch
from torch import nn


def load_config():
    """experiments/.../w32.yaml: GPUS: (0,1,2,3), with as many more as this machine has."""
    return SimpleNamespace(GPUS=tuple(range(torch.cuda.device_count() + 3)), TEST_BATCH_SIZE=2)


class PoseHighResolutionNet(nn.Module):
    def __init__(self, num_joints):
        super().__init__()
        self.final_layer = nn.Conv2d(3, num_joints, 1)

    def forward(self, x):
        return self.final_layer(x)


@torch.no_grad()
def main(variant):
    torch.manual_seed(0)
    cfg = load_config()
    if variant == "fixed":
        cfg.GPUS = (0,)
    model = torch.nn.DataParallel(PoseHighResolutionNet(17), device_ids=cfg.GPUS).cuda()
    heatmaps = model(torch.randn(cfg.TEST_BATCH_SIZE, 3, 8, 8))
    print(heatmaps.shape)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
