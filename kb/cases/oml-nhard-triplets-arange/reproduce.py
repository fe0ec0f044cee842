"""A miner of hard triplets picks rows of cpu tables by masks from the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the range on the features' device and prints "fixed: ok".
"""

import sys

import torch


class NHardTripletsMiner:
    def __init__(self, n_positive, n_negative, variant):
        self.n_positive = n_positive
        self.n_negative = n_negative
        self.variant = variant

    def sample(self, features, labels):
        dist_mat = torch.cdist(features, features)
        labels = torch.tensor(labels, device=features.device)
        is_equal = labels[:, None] == labels[None, :]
        itself = torch.eye(len(labels), dtype=torch.bool, device=features.device)
        positive = dist_mat.masked_fill(~is_equal | itself, -torch.inf)
        negative = dist_mat.masked_fill(is_equal, torch.inf)
        hard_positive = positive.topk(self.n_positive, dim=1).indices
        hard_negative = negative.topk(self.n_negative, largest=False, dim=1).indices
        has_positive = (is_equal & ~itself).any(dim=1)
        if self.variant == "fixed":
            ids = torch.arange(len(labels), device=features.device)
        else:
            ids = torch.arange(len(labels))
        anchors = ids[has_positive]
        return anchors, hard_positive[anchors, 0], hard_negative[anchors, 0]


def main(variant):
    torch.manual_seed(0)
    features = torch.randn(6, 4, device="cuda:0", requires_grad=True)
    labels_list = [0, 0, 1, 1, 2, 3]
    miner = NHardTripletsMiner(n_positive=1, n_negative=2, variant=variant)
    anchor, positive, negative = miner.sample(features=features, labels=labels_list)
    loss = torch.nn.functional.triplet_margin_loss(
        features[anchor], features[positive], features[negative]
    )
    loss.backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
