"""A features extractor makes its last layers inside forward, when the policy is on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes them in the constructor and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class CombinedExtractor(nn.Module):
    """For dictionary observations: an image and a vector."""

    def __init__(self, image_shape, vector_size, features_dim, variant):
        super().__init__()
        channels, height, width = image_shape
        self.features_dim = features_dim
        self.variant = variant
        self.cnn = nn.Sequential(nn.Conv2d(channels, 4, 3), nn.ReLU(), nn.Flatten())
        self.linear = nn.Linear(vector_size, 8)
        if variant == "fixed":
            self.last_layer = self._make_last_layer(4 * (height - 2) * (width - 2) + 8)

    def _make_last_layer(self, size):
        return nn.Sequential(
            nn.Linear(size, self.features_dim * 2),
            nn.Tanh(),
            nn.Linear(self.features_dim * 2, self.features_dim),
            nn.Tanh(),
        )

    def forward(self, observations):
        encoded = [self.cnn(observations["image"]), self.linear(observations["vector"])]
        cat = torch.cat(encoded, dim=1)
        if self.variant == "failing":
            self.last_layer = self._make_last_layer(cat.shape[1])
        return self.last_layer(cat)


class QNetwork(nn.Module):
    def __init__(self, features_extractor, n_actions):
        super().__init__()
        self.features_extractor = features_extractor
        self.q_net = nn.Linear(features_extractor.features_dim, n_actions)

    def forward(self, obs):
        return self.q_net(self.features_extractor(obs))


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda")
    extractor = CombinedExtractor((1, 6, 6), 3, features_dim=16, variant=variant)
    policy = QNetwork(extractor, n_actions=2).to(device)
    obs = {
        "image": torch.rand(2, 1, 6, 6, device=device),
        "vector": torch.rand(2, 3, device=device),
    }
    print(policy(obs).argmax(dim=1))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
