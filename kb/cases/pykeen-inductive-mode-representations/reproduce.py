"""Representations for validation and test are kept in a plain dict and stay on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` registers them beside the dict and prints "fixed: ok".
``InductiveERModel`` has the shape of PyKEEN's: training entities are a registered list, those of
the inference graph are found by mode.
"""

import sys

import torch
from torch import nn


class NodePieceRepresentation(nn.Module):
    def __init__(self, num_entities, num_tokens, dim):
        super().__init__()
        self.register_buffer("assignment", torch.randint(num_tokens, (num_entities, 3)))
        self.vocabulary = nn.Embedding(num_tokens, dim)

    def forward(self, indices):
        return self.vocabulary(self.assignment[indices]).mean(dim=1)


class InductiveERModel(nn.Module):
    def __init__(self, num_training, num_inference, variant):
        super().__init__()
        training = NodePieceRepresentation(num_training, 4, 8)
        inference = NodePieceRepresentation(num_inference, 4, 8)
        by_mode = {"training": training, "validation": inference, "testing": inference}
        self.entity_representations = nn.ModuleList([training])
        self.mode_to_representations = by_mode
        if variant == "fixed":
            self.inference_representations = nn.ModuleList([inference])

    def score(self, triples, mode):
        representation = self.mode_to_representations[mode]
        return (representation(triples[:, 0]) * representation(triples[:, 2])).sum(dim=1)


def main(variant):
    torch.manual_seed(0)
    model = InductiveERModel(10, 6, variant).to("cuda")
    triples = torch.randint(6, (4, 3), device="cuda")
    model.score(triples, mode="training")
    model.score(triples, mode="testing")
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
