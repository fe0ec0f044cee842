"""A processor makes arrays of the sizes that it gave out itself, and they are on the GPU by then.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the conversion error,
``python reproduce.py fixed`` copies the sizes to the cpu first and prints "fixed: ok".
"""

import sys

import numpy as np
import torch


class BatchFeature(dict):
    def to(self, device):
        return BatchFeature({key: value.to(device) for key, value in self.items()})


class SamProcessor:
    def __init__(self, variant, target_size=64):
        self.variant, self.target_size = variant, target_size

    def __call__(self, image):
        original_sizes = torch.tensor([image.shape[-2:]])
        pixel_values = torch.nn.functional.interpolate(
            image[None], size=(self.target_size, self.target_size), mode="bilinear"
        )
        return BatchFeature(pixel_values=pixel_values, original_sizes=original_sizes)

    def scale_points(self, input_points, original_sizes):
        if self.variant == "fixed":
            original_sizes = original_sizes.cpu()
        original_sizes = original_sizes.numpy()
        points = [
            np.asarray(point) * self.target_size / size[::-1]
            for point, size in zip(input_points, original_sizes, strict=True)
        ]
        return torch.from_numpy(np.stack(points)).float()


def segment(processor, image, clicks):
    inputs = processor(image).to("cuda")
    points = processor.scale_points([clicks], inputs["original_sizes"]).to("cuda")
    centre = points.mean(dim=1).round().long()[0].clamp(0, processor.target_size - 1)
    seed = inputs["pixel_values"][0, :, centre[1], centre[0]]
    return (inputs["pixel_values"][0] - seed[:, None, None]).abs().sum(0) < 0.5


def main(variant):
    torch.manual_seed(0)
    mask = segment(SamProcessor(variant), torch.rand(3, 40, 80), [[10.0, 20.0], [30.0, 24.0]])
    assert mask.shape == (64, 64)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
