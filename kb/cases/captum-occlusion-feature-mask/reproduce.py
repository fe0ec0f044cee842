"""Several perturbations a pass are stacked with an empty mask that was made on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the mask on the input's device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class Occlusion:
    def __init__(self, forward_func, variant):
        self.forward_func = forward_func
        self.variant = variant

    def _window_mask(self, input_tensor, index, width):
        mask = torch.zeros((1, *input_tensor.shape[1:]), device=input_tensor.device)
        mask[:, index : index + width] = 1
        return mask

    def _padding_mask(self, input_tensor):
        device = input_tensor.device if self.variant == "fixed" else None
        return torch.zeros((1, *input_tensor.shape[1:]), device=device)

    def attribute(self, input_tensor, width, perturbations_per_eval=1):
        total = torch.zeros_like(input_tensor)
        base = self.forward_func(input_tensor)
        for start in range(0, input_tensor.shape[1] - width + 1, perturbations_per_eval):
            masks = []
            for index in range(start, start + perturbations_per_eval):
                if index + width <= input_tensor.shape[1]:
                    masks.append(self._window_mask(input_tensor, index, width))
                else:
                    masks.append(self._padding_mask(input_tensor))
            current_mask = torch.cat(masks) if len(masks) > 1 else masks[0]
            for mask in current_mask.split(1):
                total += mask * (base - self.forward_func(input_tensor * (1 - mask)))
        return total


def main(variant):
    torch.manual_seed(0)
    model = nn.Linear(7, 1).cuda()
    inputs = torch.rand(2, 7, device="cuda")
    ablator = Occlusion(lambda x: model(x).detach(), variant)
    ablator.attribute(inputs, width=3)
    ablator.attribute(inputs, width=3, perturbations_per_eval=2)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
