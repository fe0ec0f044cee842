"""The parameters that are to be copied to two GPUs are on the cpu.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the error,
``python reproduce.py fixed`` moves the network to the first GPU and prints "fixed: ok".
DataParallel of today looks at the module before it copies, so its two steps are made by hand here,
as they were then. torch's sentence has since become that of an AssertionError.
"""

import sys

import torch
from torch import nn
from torch.nn.parallel import parallel_apply, replicate


def init_net(net, gpu_ids, variant):
    if variant == "fixed":
        net.to(torch.device("cuda", gpu_ids[0]))
    return net


class Pix2PixModel:
    def __init__(self, gpu_ids, variant):
        self.gpu_ids = gpu_ids
        self.netG = init_net(nn.Conv2d(3, 3, 3, padding=1), gpu_ids, variant)

    def forward(self):
        inputs = [(torch.rand(1, 3, 8, 8, device=f"cuda:{gpu}"),) for gpu in self.gpu_ids]
        replicas = replicate(self.netG, self.gpu_ids)
        self.fake_B = parallel_apply(replicas, inputs, devices=self.gpu_ids)

    def optimize_parameters(self):
        self.forward()


def main(variant):
    torch.manual_seed(0)
    model = Pix2PixModel([0, 1], variant)
    model.optimize_parameters()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
