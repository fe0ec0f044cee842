import torch


def contributions(xs, derivatives, train):
    """Energies, and forces along the derivatives."""
    weights = torch.softmax(-torch.cdist(xs, train), dim=1)
    return weights.sum(dim=1), torch.einsum("nd,ndk->nk", weights @ train, derivatives)
