"""A loader takes any device hook for offloading and offloads a model that was on the GPU.

Needs torch, accelerate and one GPU. ``python reproduce.py failing`` ends in an assertion, since
nothing is raised: the weights are parked on the cpu. ``python reproduce.py fixed`` looks where the
weights are first and prints "fixed: ok".
"""

import sys

import torch
from accelerate import cpu_offload
from accelerate.hooks import AlignDevicesHook, add_hook_to_module, remove_hook_from_module
from torch import nn


class FluxTransformer2DModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj_in, self.proj_out = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        return self.proj_out(self.proj_in(x).relu())


def from_pretrained_8bit():
    model = FluxTransformer2DModel().to("cuda:0")
    add_hook_to_module(model, AlignDevicesHook(execution_device="cuda:0", io_same_device=True))
    return model


class FluxPipeline:
    def __init__(self, transformer, variant):
        self.transformer, self.variant = transformer, variant

    def _is_sequential_cpu_offload(self):
        hook = getattr(self.transformer, "_hf_hook", None)
        found = isinstance(hook, AlignDevicesHook)
        if self.variant == "fixed":
            found = found and any(p.device.type != "cuda" for p in self.transformer.parameters())
        return found

    def enable_sequential_cpu_offload(self):
        cpu_offload(self.transformer.to("cpu"), execution_device=torch.device("cuda:0"))

    def load_lora_weights(self, lora):
        offloaded = self._is_sequential_cpu_offload()
        if offloaded:
            remove_hook_from_module(self.transformer, recurse=True)
        with torch.no_grad():
            self.transformer.proj_in.weight += lora.to(self.transformer.proj_in.weight.device)
        if offloaded:
            self.enable_sequential_cpu_offload()


def main(variant):
    pipe = FluxPipeline(from_pretrained_8bit(), variant)
    pipe.load_lora_weights(torch.randn(8, 1) @ torch.randn(1, 8))
    with torch.no_grad():
        pipe.transformer(torch.randn(1, 8, device="cuda:0"))
    devices = {str(p.device) for p in pipe.transformer.parameters()}
    assert devices == {"cuda:0"}, f"no error, but loading a LoRA sent the weights to {devices}"
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
