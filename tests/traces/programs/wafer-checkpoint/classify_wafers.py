"""Classifies wafer maps on the workstation, which has one GPU."""

import torch
from wafer_model import wafer_model


def load_checkpoint(path):
    checkpoint = torch.load(path)
    model = wafer_model()
    model.load_state_dict(checkpoint["state_dict"])
    return model.cuda().eval()


if __name__ == "__main__":
    classifier = load_checkpoint("wafers_best.pth")
    maps = torch.rand(4, 26, 26).cuda()
    print(classifier(maps).argmax(dim=1))
