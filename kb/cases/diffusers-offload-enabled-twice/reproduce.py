"""Offloading is enabled a second time on models that still carry the hooks of the first.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` removes the old hooks first, as the library does since, and prints
"fixed: ok". ``CpuOffload`` and the pipeline keep what accelerate and diffusers did.
"""

import sys

import torch
from torch import nn


class CpuOffload:
    """Brings a module to the execution device when it is called."""

    def __init__(self, module, execution_device):
        self.execution_device = execution_device
        self.old_forward, self.module = module.forward, module
        module.forward, module._hf_hook = self, self

    def __call__(self, x):
        self.module.to(self.execution_device)
        return self.old_forward(x.to(self.execution_device))

    def remove(self):
        self.module.forward = self.old_forward
        del self.module._hf_hook


class Pipeline:
    def __init__(self, unet, vae, variant):
        self.components = {"unet": unet, "vae": vae}
        self.variant = variant

    @property
    def _execution_device(self):
        hook = getattr(self.components["unet"], "_hf_hook", None)
        if hook is None or isinstance(hook.old_forward, CpuOffload):
            return torch.device("cpu")
        return torch.device(hook.execution_device)

    def enable_model_cpu_offload(self):
        for module in self.components.values():
            if self.variant == "fixed" and hasattr(module, "_hf_hook"):
                module._hf_hook.remove()
            CpuOffload(module.to("cpu"), "cuda:0")

    @torch.no_grad()
    def __call__(self):
        latents = torch.randn(1, 8, device=self._execution_device)
        noise_pred = self.components["unet"](latents)
        return self.components["vae"](latents - 0.1 * noise_pred)


def main(variant):
    pipe = Pipeline(nn.Linear(8, 8), nn.Linear(8, 3), variant)
    pipe.enable_model_cpu_offload()
    pipe()
    second = Pipeline(**pipe.components, variant=variant)
    second.enable_model_cpu_offload()
    second()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
