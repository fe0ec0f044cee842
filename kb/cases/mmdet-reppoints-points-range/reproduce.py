"""An assigner numbers all points on the cpu and picks the numbers of one level by a GPU mask.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings the numbers to the points' device and prints "fixed: ok".
"""

import sys

import torch


def level_of(boxes, base_size, levels):
    """The level of the pyramid whose cells are about as large as the box."""
    sides = boxes[:, 2:] - boxes[:, :2]
    return (sides.mean(dim=1) / base_size).log2().round().clamp(0, levels - 1).long()


class PointAssigner:
    def __init__(self, nearest, variant):
        self.nearest, self.variant = nearest, variant

    def assign(self, centres, point_levels, boxes):
        """For each point the number of its box, counted from one; zero is the background."""
        numbers = torch.arange(len(centres))
        if self.variant == "fixed":
            numbers = numbers.to(centres.device)
        result = torch.zeros_like(point_levels)
        box_levels = level_of(boxes, base_size=16, levels=int(point_levels.max()) + 1)
        for number, (box, level) in enumerate(zip(boxes, box_levels, strict=True), start=1):
            on_level = point_levels == level
            candidates = numbers[on_level]
            middle = (box[:2] + box[2:]) / 2
            order = (centres[on_level] - middle).square().sum(dim=1).argsort()
            result[candidates[order[: self.nearest]]] = number
        return result


def main(variant):
    torch.manual_seed(0)
    centres = torch.rand(80, 2, device="cuda") * 64
    point_levels = (torch.arange(80, device="cuda") >= 60).long()
    boxes = torch.tensor([[4.0, 4.0, 20.0, 22.0], [10.0, 8.0, 50.0, 44.0]], device="cuda")
    assigned = PointAssigner(nearest=2, variant=variant).assign(centres, point_levels, boxes)
    assert int(assigned.max()) == 2
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
