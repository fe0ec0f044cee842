import torch
from pointops import sample
from torch import nn


class LidarClassifier(nn.Module):
    def __init__(self, kept=32, classes=4):
        super().__init__()
        self.kept = kept
        self.per_point = nn.Linear(3, 16)
        self.classes = nn.Linear(16, classes)

    def forward(self, cloud):
        kept = sample(cloud, self.kept)
        return self.classes(self.per_point(kept).amax(dim=0))


def answer(classifier, cloud):
    with torch.inference_mode():
        return classifier(cloud).argmax().item()


if __name__ == "__main__":
    classifier = LidarClassifier().eval()
    print(answer(classifier, torch.rand(256, 3)))
