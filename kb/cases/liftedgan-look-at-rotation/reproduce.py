"""A helper of a 3D library makes a camera rotation, on the cpu unless a device is named.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` names the renderer's device and prints "fixed: ok".
``look_at_rotation`` has the signature of PyTorch3D's function and its default of the cpu.
"""

import sys

import torch
from torch.nn import functional as F


def look_at_rotation(camera_position, at=((0.0, 0.0, 0.0),), up=((0.0, 1.0, 0.0),), device="cpu"):
    position, at, up = (
        torch.as_tensor(vector, dtype=torch.float32, device=device)
        for vector in (camera_position, at, up)
    )
    z_axis = F.normalize(at - position, dim=1)
    x_axis = F.normalize(torch.linalg.cross(up.expand_as(z_axis), z_axis), dim=1)
    y_axis = F.normalize(torch.linalg.cross(z_axis, x_axis), dim=1)
    return torch.stack((x_axis, y_axis, z_axis), dim=2)


class Renderer:
    def __init__(self, device, variant):
        self.device = torch.device(device)
        self.camera = [[0.0, 0.0, 10.0]]
        self.variant = variant

    def get_transform(self, translation):
        where = {"device": self.device} if self.variant == "fixed" else {}
        R = look_at_rotation(self.camera, **where)
        return R.expand(len(translation), 3, 3), translation

    def warp(self, points, translation):
        R, T = self.get_transform(translation)
        return torch.bmm(points, R) + T[:, None]


def main(variant):
    torch.manual_seed(0)
    renderer = Renderer("cuda:0", variant)
    depth_points = torch.rand(2, 16, 3, device=renderer.device, requires_grad=True)
    view = torch.zeros(2, 3, device=renderer.device)
    renderer.warp(depth_points, view).sum().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
