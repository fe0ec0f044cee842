"""A face detector reads its anchors into a tensor attribute, and only its weights are moved.

Needs torch, numpy and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings the anchors to the network's device and prints "fixed: ok".
"""

import io
import sys

import numpy as np
import torch
from torch import nn


class BlazeFace(nn.Module):
    scale = 128.0

    def __init__(self):
        super().__init__()
        self.backbone = nn.Conv2d(3, 8, 8, stride=8)
        self.classifier, self.regressor = nn.Conv2d(8, 1, 1), nn.Conv2d(8, 4, 1)
        self.anchors = None

    def load_anchors(self, file):
        self.anchors = torch.tensor(np.load(file), dtype=torch.float32)

    def forward(self, x):
        features = self.backbone(x)
        heads = (self.regressor, self.classifier)
        return [head(features).flatten(2).mT for head in heads]

    def _decode_boxes(self, raw_boxes, anchors):
        offsets, sizes = (raw_boxes / self.scale).split(2, dim=-1)
        places, extents = anchors.split(2, dim=-1)
        centres, halves = places + offsets * extents, sizes * extents / 2
        return torch.cat([centres - halves, centres + halves], dim=-1)

    @torch.no_grad()
    def predict_on_batch(self, x, variant):
        raw_boxes, scores = self(x)
        if variant == "fixed":
            self.anchors = self.anchors.to(raw_boxes.device)
        boxes = self._decode_boxes(raw_boxes, self.anchors)
        return boxes[scores[..., 0].sigmoid() > 0.4]


def anchors_file():
    file = io.BytesIO()
    y, x = np.mgrid[0:4, 0:4].reshape(2, -1) / 4
    np.save(file, np.stack([x, y, np.ones(16), np.ones(16)], axis=1))
    file.seek(0)
    return file


def main(variant):
    face_detector = BlazeFace().to("cuda")
    face_detector.load_anchors(anchors_file())
    faces = face_detector.predict_on_batch(torch.rand(1, 3, 32, 32, device="cuda"), variant)
    assert faces.shape[-1] == 4
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
