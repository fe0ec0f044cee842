"""Labels collected in a list on the cpu are put in the order of scores from the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the labels before they are indexed and prints "fixed: ok".
``BoxDecoder`` collects boxes class by class, as the example's decoder does, and keeps the best.
"""

import sys

import torch


class BoxDecoder:
    def __init__(self, variant, threshold=0.05):
        self.variant, self.threshold = variant, threshold

    def decode_single(self, boxes, probabilities, keep):
        found, certainty, names = [], [], []
        for label in range(1, probabilities.shape[1]):  # 0 is the background
            sure = probabilities[:, label] > self.threshold
            found.append(boxes[sure])
            certainty.append(probabilities[sure, label])
            names += [label] * int(sure.sum())
        found, certainty = torch.cat(found), torch.cat(certainty)
        labels_out = torch.tensor(names)
        if self.variant == "fixed":
            labels_out = labels_out.to(certainty.device)
        best = certainty.topk(keep).indices
        return found[best], labels_out[best], certainty[best]


def main(variant):
    torch.manual_seed(0)
    ploc = torch.rand(32, 4, device="cuda")
    plabel = torch.randn(32, 5, device="cuda").softmax(dim=1)
    boxes, labels, scores = BoxDecoder(variant).decode_single(ploc, plabel, keep=10)
    assert len(boxes) == len(labels) == len(scores) == 10
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
