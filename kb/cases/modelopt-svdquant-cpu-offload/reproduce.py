"""A calibration joins statistics of the GPU with weights that offloading has parked on the cpu.

Needs torch, accelerate and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings them to one device and prints "fixed: ok".
"""

import sys

import torch
from accelerate import cpu_offload_with_hook
from torch import nn


class AWQLiteHelper:
    def __init__(self, linear):
        self.act_scale = torch.zeros(linear.in_features)
        linear.register_forward_pre_hook(self.collect)

    def collect(self, linear, args):
        x_max = args[0].detach().abs().flatten(0, -2).amax(0)
        self.act_scale = torch.maximum(self.act_scale.to(x_max.device), x_max)


def get_scale(x_max, w_max, alpha, variant):
    if variant == "fixed":
        w_max = w_max.to(x_max.device)
    scales = (x_max.pow(alpha) / (w_max.pow(1 - alpha) + 1e-4)).clamp(min=1e-4)
    return scales / (scales.max() * scales.min()).sqrt()


def apply_pre_quant_scale(linear, scale, variant):
    if variant == "fixed":
        scale = scale.to(linear.weight.device)
    linear.weight.data.mul_(scale)


def svdquant(pipeline, linear, batches, variant):
    helper = AWQLiteHelper(linear)
    for latents in batches:
        pipeline(latents)
    pipeline.hook.offload()  # the transformer makes room for what comes next
    w_max = linear.weight.detach().abs().amax(0)
    scale = get_scale(helper.act_scale, w_max, alpha=0.5, variant=variant)
    apply_pre_quant_scale(linear, scale, variant)


class Pipeline:
    def __init__(self):
        self.transformer = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8))

    def enable_model_cpu_offload(self):
        self.transformer, self.hook = cpu_offload_with_hook(self.transformer, "cuda:0")

    @torch.no_grad()
    def __call__(self, latents):
        return self.transformer(latents.to("cuda:0"))


def main(variant):
    torch.manual_seed(0)
    pipeline = Pipeline()
    pipeline.enable_model_cpu_offload()
    batches = [torch.randn(2, 4, 8) for _ in range(2)]
    svdquant(pipeline, pipeline.transformer[2], batches, variant)
    pipeline(batches[0])
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
