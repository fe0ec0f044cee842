"""Default boxes: widths and heights made once in __init__ meet a grid on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves them where they are used and prints "fixed: ok".
The pairs are a list of plain tensors, so neither .to() nor .cuda() of the model reaches them. Here
the grid is made on the device of the feature map; the report says that a scripted model does.
"""

import sys

import torch
from torch import nn


class DefaultBoxGenerator(nn.Module):
    def __init__(self, aspect_ratios, variant):
        super().__init__()
        self.variant = variant
        self._wh_pairs = self._generate_wh_pairs(aspect_ratios)

    def _generate_wh_pairs(self, aspect_ratios, device="cpu"):
        return [torch.tensor([[r**0.5, r**-0.5]], device=device) for r in aspect_ratios]

    def _grid_default_boxes(self, grid_sizes, device):
        default_boxes = []
        for k, (f_k_y, f_k_x) in enumerate(grid_sizes):
            shifts_x = (torch.arange(f_k_x, device=device) + 0.5) / f_k_x
            shifts_y = (torch.arange(f_k_y, device=device) + 0.5) / f_k_y
            shifts = torch.cartesian_prod(shifts_y, shifts_x)
            wh_pairs = self._wh_pairs[k].repeat(f_k_y * f_k_x, 1)
            if self.variant == "fixed":
                wh_pairs = wh_pairs.to(device)
            default_boxes.append(torch.cat((shifts, wh_pairs), dim=1))
        return torch.cat(default_boxes, dim=0)

    def forward(self, feature_maps):
        grid_sizes = [feature_map.shape[-2:] for feature_map in feature_maps]
        return self._grid_default_boxes(grid_sizes, feature_maps[0].device)


class SSD(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.backbone = nn.Conv2d(3, 4, kernel_size=3, stride=2)
        self.anchor_generator = DefaultBoxGenerator([1.0], variant)

    def forward(self, images):
        features = self.backbone(images)
        return features, self.anchor_generator([features])


def main(variant):
    model = SSD(variant)
    model.cuda()
    model(torch.rand(1, 3, 9, 9, device="cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
