"""An optimizer rebuilds a mask of its own after a resume and leaves it where it was read to.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the mask to its parameter and prints "fixed: ok". ``Automagic``
keeps of its namesake a learning rate for each element, stored as bytes with a scale.
"""

import io
import sys

import torch
from torch import nn


class Automagic(torch.optim.Optimizer):
    def __init__(self, params, variant, lr=1e-3):
        super().__init__(params, {"lr": lr})
        self.variant = variant

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if "lr_mask" not in state:
                    state["lr_mask"] = torch.full_like(p, group["lr"])
                p.sub_(p.grad.sign() * state["lr_mask"])

    def state_dict(self):
        packed = super().state_dict()
        for state in packed["state"].values():
            mask = state.pop("lr_mask")
            scale = mask.max() / 255
            state["lr_mask_state"] = {"quantized": (mask / scale).to(torch.uint8), "scale": scale}
        return packed

    def load_state_dict(self, packed):
        masks = {i: state.pop("lr_mask_state") for i, state in packed["state"].items()}
        super().load_state_dict(packed)
        params = [p for group in self.param_groups for p in group["params"]]
        for i, stored in masks.items():
            mask = stored["quantized"].float() * stored["scale"]
            if self.variant == "fixed":
                mask = mask.to(params[i].device)
            self.state[params[i]]["lr_mask"] = mask


def train_step(network, optimizer):
    network(torch.randn(2, 8, device="cuda")).pow(2).mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def main(variant):
    network = nn.Linear(8, 4).cuda()
    optimizer = Automagic(network.parameters(), variant)
    train_step(network, optimizer)
    file = io.BytesIO()
    torch.save(optimizer.state_dict(), file)
    file.seek(0)
    resumed = Automagic(network.parameters(), variant)
    resumed.load_state_dict(torch.load(file, map_location="cpu"))
    train_step(network, resumed)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
