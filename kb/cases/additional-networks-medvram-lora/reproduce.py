"""LoRA layers are made while a low-VRAM mode has the model on the cpu, and stay there.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` sends them to the device of the run once loaded and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def setup_for_low_vram(model):
    """Keeps the model on the cpu, and on the GPU while it runs."""
    known = list(model.parameters())

    def send(device):
        for parameter in known:
            parameter.data = parameter.data.to(device)

    model.register_forward_pre_hook(lambda *_: send("cuda"))
    model.register_forward_hook(lambda *_: send("cpu"))


class LoRAModule(nn.Module):
    def __init__(self, org_module, rank=2):
        super().__init__()
        device = org_module.weight.device  # cpu: the model is resting
        self.lora_down = nn.Linear(org_module.in_features, rank, bias=False, device=device)
        self.lora_up = nn.Linear(rank, org_module.out_features, bias=False, device=device)
        self.org_forward = org_module.forward
        org_module.forward = self.forward

    def forward(self, x):
        return self.org_forward(x) + self.lora_up(self.lora_down(x))


def main(variant):
    print("Launching Web UI with arguments: --medvram")  # as the web UI logs it
    unet = nn.Sequential(nn.Linear(8, 8), nn.SiLU(), nn.Linear(8, 8))
    setup_for_low_vram(unet)
    network = [LoRAModule(layer) for layer in unet if isinstance(layer, nn.Linear)]
    if variant == "fixed":
        for lora in network:
            lora.to("cuda")  # the device that the web UI gives for the model, awake or not
    with torch.no_grad():
        unet(torch.randn(2, 8, device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
