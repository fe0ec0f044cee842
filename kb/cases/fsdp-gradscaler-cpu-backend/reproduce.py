"""A gradient scaler for GPUs is given gradients that FSDP has offloaded to the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` has a scaler with a branch for cpu gradients and prints "fixed: ok".
PyTorch has the operator for the cpu, too, by now; ``amp_foreach_unscale_`` stands for that of the
time and raises the beginning of its dispatcher's sentence.
"""

import sys

import torch
from torch import nn

OPERATOR = "aten::_amp_foreach_non_finite_check_and_unscale_"


def amp_foreach_unscale_(grads, inv_scale):
    if any(not grad.is_cuda for grad in grads):
        raise NotImplementedError(
            f"Could not run '{OPERATOR}' with arguments from the 'CPU' backend. This could be "
            "because the operator doesn't exist for this backend, or was omitted during the "
            "selective/custom build process (if using custom build)."
        )
    torch._foreach_mul_(grads, inv_scale)


class ShardedGradScaler:
    def __init__(self, handles_cpu):
        self.scale, self.handles_cpu = 65536.0, handles_cpu

    def unscale_(self, grads):
        self._unscale_grads_(grads, 1.0 / self.scale)

    def _unscale_grads_(self, grads, inv_scale):
        if self.handles_cpu:
            for grad in grads:
                grad.mul_(inv_scale)
        else:
            amp_foreach_unscale_(grads, inv_scale)

    def step(self, optimizer):
        self.unscale_([p.grad for group in optimizer.param_groups for p in group["params"]])
        optimizer.step()


def main(variant):
    torch.manual_seed(0)
    scaler = ShardedGradScaler(handles_cpu=variant == "fixed")
    # CPUOffload: parameters go to the GPU for forward and backward, their gradients come back.
    module, shard = nn.Linear(8, 2), nn.Linear(8, 2).to("cuda")
    shard(torch.randn(4, 8, device="cuda")).sum().mul(scaler.scale).backward()
    for parameter, on_gpu in zip(module.parameters(), shard.parameters(), strict=True):
        parameter.grad = on_gpu.grad.cpu()
    scaler.step(torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
