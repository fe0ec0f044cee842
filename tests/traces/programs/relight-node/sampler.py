"""python sampler.py --lowvram: samples with a node's patch in each block."""

import sys

import torch
from nodes import RelightNode
from torch import nn


class ModelPatcher:
    """Keeps a model and its patches on the cpu when memory is short, and loads them for a run."""

    def __init__(self, model, device, lowvram):
        self.model, self.patches, self.device, self.lowvram = model, [], device, lowvram

    def add(self, node):
        self.patches.append(node)

    def load(self):
        self.model.to(self.device)
        if self.lowvram:
            print("loaded partially (--lowvram), patches stay offloaded to cpu")
            return
        for node in self.patches:
            node.patch.to(self.device)


def sample(patcher, latent, light):
    patcher.load()
    hidden_states = patcher.model(latent)
    for node in patcher.patches:
        hidden_states = node.apply(hidden_states, light)
    return hidden_states


if __name__ == "__main__":
    patcher = ModelPatcher(nn.Linear(8, 16), torch.device("cuda"), "--lowvram" in sys.argv)
    patcher.add(RelightNode(16))
    with torch.no_grad():
        sample(patcher, torch.rand(4, 8, device="cuda"), torch.rand(4, 3, device="cuda"))
