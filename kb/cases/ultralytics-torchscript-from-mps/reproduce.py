"""A detector with suppression built in is recorded on one device and run on another.

Needs torch and one accelerator. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the output from the boxes themselves and prints "fixed: ok".
make_fx stands for torch.jit.trace, which is deprecated: both write down factories with devices.
The recording is made on the cpu here, the other way round than in the report.
"""

import sys

import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx


class NMSModel(nn.Module):
    def __init__(self, model, max_det, variant):
        super().__init__()
        self.model, self.max_det, self.variant = model, max_det, variant

    def forward(self, image):
        preds = self.model(image).flatten(2).mT
        boxes, scores = preds[..., :4], preds[..., 4]
        shape = (boxes.shape[0], self.max_det, 5)
        if self.variant == "fixed":
            out = boxes.new_zeros(shape)
        else:
            out = torch.zeros(shape, device=boxes.device, dtype=boxes.dtype)
        top = scores.topk(self.max_det, dim=1)
        kept = boxes.gather(1, top.indices[..., None].expand(-1, -1, 4))
        return out + torch.cat([kept, top.values[..., None]], dim=-1)


def export_torchscript(model, device, variant):
    nms_model = NMSModel(model, max_det=3, variant=variant).to(device).requires_grad_(False)
    return make_fx(nms_model.eval())(torch.rand(1, 3, 16, 16, device=device))


def main(variant):
    accelerator = torch.accelerator.current_accelerator()
    detect = nn.Sequential(nn.Conv2d(3, 8, 4, stride=4), nn.SiLU(), nn.Conv2d(8, 5, 1))
    exported = export_torchscript(detect, "cpu", variant)
    backend = exported.to(accelerator)
    detections = backend(torch.rand(1, 3, 16, 16, device=accelerator))
    assert detections.shape == (1, 3, 5)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
