"""A classifier that was saved and loaded again predicts on GPU images with weights on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the model before it predicts and prints "fixed: ok".
Loading maps everything to the cpu, as it should; train() had moved the model, and only a fresh
process lacks that. The backbone is one convolution.
"""

import io
import sys

import torch
from torch import nn


class TorchvisionImageClassifier:
    def __init__(self, moves_model):
        self.device = torch.device("cuda:0")
        self.moves_model = moves_model
        self.model = nn.Sequential(
            nn.Conv2d(3, 4, kernel_size=3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 2)
        )

    def save(self, filename):
        torch.save(self.model.state_dict(), filename)

    @classmethod
    def load(cls, filename, moves_model):
        classifier = cls(moves_model)
        classifier.model.load_state_dict(torch.load(filename, map_location="cpu"))
        return classifier

    def predict(self, loader):
        if self.moves_model:
            self.model.to(self.device)
        self.model.eval()
        with torch.no_grad():
            return [self.model(images.to(self.device)).softmax(dim=1) for images in loader]


def main(variant):
    torch.manual_seed(0)
    filename = io.BytesIO()
    TorchvisionImageClassifier(False).save(filename)
    filename.seek(0)
    classifier = TorchvisionImageClassifier.load(filename, moves_model=variant == "fixed")
    classifier.predict([torch.rand(2, 3, 8, 8)])
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
