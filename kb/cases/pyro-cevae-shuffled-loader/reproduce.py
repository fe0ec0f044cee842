"""A fit method shuffles its data with a loader while cuda is the default for new tensors.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about the generator,
``python reproduce.py fixed`` hands the loader a generator on the data's device and prints
"fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class CEVAE(nn.Module):
    def __init__(self, feature_dim, latent_dim, variant):
        super().__init__()
        self.guide = nn.Linear(feature_dim + 2, 2 * latent_dim)
        self.model = nn.Linear(latent_dim + 1, feature_dim)
        self.variant = variant

    def elbo(self, x, t, y):
        loc, log_scale = self.guide(torch.cat([x, t[:, None], y[:, None]], dim=1)).chunk(2, dim=1)
        z = loc + log_scale.exp() * torch.randn_like(loc)
        return -(self.model(torch.cat([z, t[:, None]], dim=1)) - x).pow(2).mean()

    def fit(self, x, t, y, num_epochs, batch_size):
        dataset = TensorDataset(x, t, y)
        generator = torch.Generator(device=x.device) if self.variant == "fixed" else None
        dataloader = DataLoader(dataset, batch_size=batch_size, shuffle=True, generator=generator)
        optim = torch.optim.Adam(self.parameters(), lr=1e-3)
        for _ in range(num_epochs):
            for batch in dataloader:
                optim.zero_grad()
                loss = -self.elbo(*batch)
                loss.backward()
                optim.step()


def main(variant):
    torch.set_default_device("cuda")
    torch.manual_seed(0)
    x, t = torch.randn(12, 4), torch.randint(2, (12,)).float()
    y = (x.sum(dim=1) + t > 0).float()
    CEVAE(feature_dim=4, latent_dim=2, variant=variant).fit(x, t, y, num_epochs=1, batch_size=4)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
