"""A constant without a device follows the default device that another model has changed.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes the device from the boxes and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def box_cxcywh_to_xyxy(boxes):
    centre, size = boxes[:, :2], boxes[:, 2:]
    return torch.cat([centre - size / 2, centre + size / 2], dim=1)


class LangSAM:
    def __init__(self, variant):
        self.groundingdino = nn.Linear(8, 4).to("cuda")
        self.variant = variant

    def predict_dino(self, features, width, height):
        with torch.no_grad():
            boxes = self.groundingdino(features.to("cuda")).sigmoid().cpu()
        where = {"device": boxes.device} if self.variant == "fixed" else {}
        scale = torch.tensor([width, height, width, height], **where)
        return box_cxcywh_to_xyxy(boxes) * scale


class OtherModel:
    def __init__(self):
        torch.set_default_device("cuda")
        self.net = nn.Linear(4, 4)

    def __call__(self):
        return self.net(torch.rand(2, 4))


def main(variant):
    features = torch.rand(5, 8)
    lang_sam = LangSAM(variant)
    lang_sam.predict_dino(features, 640, 480)
    OtherModel()()
    try:
        boxes = lang_sam.predict_dino(features, 640, 480)
    finally:
        torch.set_default_device(None)
    assert boxes.device.type == "cpu"
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
