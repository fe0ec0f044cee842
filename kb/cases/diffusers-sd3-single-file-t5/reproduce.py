"""A pipeline built without memory is filled from a file that has no weights for one component.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about meta,
``python reproduce.py fixed`` hands in a component that was loaded apart and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class StableDiffusion3Pipeline:
    def __init__(self, **components):
        self.components = components

    @classmethod
    def from_single_file(cls, checkpoint, **given):
        with torch.device("meta"):
            components = {"transformer": nn.Linear(8, 8), "text_encoder_3": nn.Linear(8, 8)}
        components.update(given)
        for name, component in components.items():
            prefix = f"{name}."
            weights = {
                key.removeprefix(prefix): value
                for key, value in checkpoint.items()
                if key.startswith(prefix)
            }
            # A component without weights in the file is left as it was built.
            component.load_state_dict(weights, strict=False, assign=True)
        return cls(**components)

    def to(self, device):
        for component in self.components.values():
            component.to(device)
        return self


def main(variant):
    torch.manual_seed(0)
    checkpoint = {"transformer.weight": torch.randn(8, 8), "transformer.bias": torch.zeros(8)}
    loaded_apart = {"text_encoder_3": nn.Linear(8, 8)} if variant == "fixed" else {}
    pipe = StableDiffusion3Pipeline.from_single_file(checkpoint, **loaded_apart)
    pipe.to("cuda")
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
