"""Probabilities on the GPU are padded with zeros from the cpu to the number of labels.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the zeros on the device of the others and prints "fixed: ok".
The same lines with NumPy had run on the cpu only; taking NumPy out was the first half of the fix.
"""

import sys

import torch
from torch import nn


class ClassificationHead(nn.Module):
    def __init__(self, num_labels, num_outputs, variant):
        super().__init__()
        self.num_labels = num_labels
        self.variant = variant
        self.classifier = nn.Linear(5, num_outputs)

    def labels_with_probabilities(self, probabilities):
        missing = self.num_labels - len(probabilities)
        device = None if self.variant == "failing" else probabilities.device
        all_classes_probs = torch.cat([probabilities, torch.zeros(missing, device=device)])
        sorted_indexes_by_prob = torch.argsort(all_classes_probs, descending=True).tolist()
        return [(index, float(all_classes_probs[index])) for index in sorted_indexes_by_prob]

    def decode(self, features):
        probabilities = self.classifier(features).softmax(dim=-1)
        return [self.labels_with_probabilities(row) for row in probabilities]


def main(variant):
    torch.manual_seed(0)
    head = ClassificationHead(num_labels=4, num_outputs=3, variant=variant).to("cuda:0")
    with torch.no_grad():
        head.decode(torch.rand(2, 5, device="cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
