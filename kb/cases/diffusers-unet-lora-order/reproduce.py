"""LoRA layers are put into a UNet that is on the GPU already, and stay on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the UNet after they are in and prints "fixed: ok".
The UNet is one attention block, small and random.
"""

import sys

import torch
from torch import nn


class LoRALinearLayer(nn.Module):
    def __init__(self, in_features, out_features, rank):
        super().__init__()
        self.down = nn.Linear(in_features, rank, bias=False)
        self.up = nn.Linear(rank, out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, hidden_states):
        return self.up(self.down(hidden_states))


class LoRACompatibleLinear(nn.Linear):
    def __init__(self, in_features, out_features):
        super().__init__(in_features, out_features)
        self.lora_layer = None

    def set_lora_layer(self, lora_layer):
        self.lora_layer = lora_layer

    def forward(self, hidden_states):
        out = super().forward(hidden_states)
        return out if self.lora_layer is None else out + self.lora_layer(hidden_states)


class UNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.to_q = LoRACompatibleLinear(width, width)
        self.to_k = LoRACompatibleLinear(width, width)

    def forward(self, sample):
        return (self.to_q(sample) @ self.to_k(sample).mT).softmax(-1) @ sample


def add_lora(unet, rank):
    parameters = []
    for module in (unet.to_q, unet.to_k):
        module.set_lora_layer(LoRALinearLayer(module.in_features, module.out_features, rank))
        parameters += module.lora_layer.parameters()
    return parameters


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    unet = UNet()
    unet.requires_grad_(False)
    if variant == "failing":
        unet.to(device)
    unet_lora_parameters = add_lora(unet, rank=2)
    if variant == "fixed":
        unet.to(device)
    optimizer = torch.optim.AdamW(unet_lora_parameters, lr=1e-4)
    noisy_latents = torch.randn(1, 5, 8, device=device)
    model_pred = unet(noisy_latents)
    model_pred.square().mean().backward()
    optimizer.step()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
