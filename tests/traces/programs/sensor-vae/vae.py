import torch
from torch import nn


class SensorVAE(nn.Module):
    """Models a window of vibration sensors for anomaly scores."""

    def __init__(self, window=64, latent=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(window, 32), nn.Tanh())
        self.to_mu, self.to_logvar = nn.Linear(32, latent), nn.Linear(32, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, 32), nn.Tanh(), nn.Linear(32, window))

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn(std.shape)
        return mu + eps * std

    def forward(self, window):
        hidden = self.encoder(window)
        mu, logvar = self.to_mu(hidden), self.to_logvar(hidden)
        return self.decoder(self.reparameterize(mu, logvar)), mu, logvar


def elbo(window, decoded, mu, logvar):
    error = (window - decoded).square().sum(dim=1).mean()
    return error - 0.5 * (1 + logvar - mu.square() - logvar.exp()).sum(dim=1).mean()
