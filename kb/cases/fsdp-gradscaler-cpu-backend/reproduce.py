"""A gradient scaler for GPUs is given gradients that FSDP has offloaded to the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` has a scaler with a branch for cpu gradients and prints "fixed: ok".
torch has its operator for the cpu, too, by now; the one that is registered here has a kernel for
CUDA only, as that of the time, and torch's dispatcher finds none for the cpu.
"""

import sys

import torch
from torch import nn

OPERATOR = "foreach_check_and_unscale_"


def register():
    """The operator for CUDA alone; it is there as long as what this returns."""
    library = torch.library.Library("scaling", "FRAGMENT")
    library.define(f"{OPERATOR}(Tensor(a!)[] grads, float inv_scale) -> ()")
    library.impl(OPERATOR, torch._foreach_mul_, "CUDA")
    return library


class ShardedGradScaler:
    def __init__(self, handles_cpu):
        self.scale, self.handles_cpu = 65536.0, handles_cpu

    def unscale_(self, grads):
        on_cpu = [grad for grad in grads if not grad.is_cuda]
        if self.handles_cpu and on_cpu:
            for grad in on_cpu:
                grad.mul_(1.0 / self.scale)
        else:
            torch.ops.scaling.foreach_check_and_unscale_(grads, 1.0 / self.scale)

    def step(self, optimizer):
        self.unscale_([p.grad for group in optimizer.param_groups for p in group["params"]])
        optimizer.step()


def main(variant):
    torch.manual_seed(0)
    library = register()
    scaler = ShardedGradScaler(handles_cpu=variant == "fixed")
    # CPUOffload: parameters go to the GPU for forward and backward, their gradients come back.
    module, shard = nn.Linear(8, 2), nn.Linear(8, 2).to("cuda")
    shard(torch.randn(4, 8, device="cuda")).sum().mul(scaler.scale).backward()
    for parameter, on_gpu in zip(module.parameters(), shard.parameters(), strict=True):
        parameter.grad = on_gpu.grad.cpu()
    scaler.step(torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9))
    del library
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
