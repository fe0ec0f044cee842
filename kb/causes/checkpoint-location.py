"""A checkpoint came back on the device it was saved from: saved on a GPU, used on the cpu."""

import io

import torch


def saved_on(device):
    """A file with class prototypes that a training run saved from its GPU."""
    file = io.BytesIO()
    torch.save({"prototypes": torch.randn(5, 16, device=device)}, file)
    file.seek(0)
    return file


def mistake(devices):
    """Without map_location the prototypes are on the GPU again."""
    prototypes = torch.load(saved_on(devices[0]))["prototypes"]
    queries = torch.randn(4, 16)
    return torch.cdist(queries, prototypes).argmin(dim=1)


def fixed(devices):
    """map_location says where this run wants them."""
    prototypes = torch.load(saved_on(devices[0]), map_location="cpu")["prototypes"]
    queries = torch.randn(4, 16)
    return torch.cdist(queries, prototypes).argmin(dim=1)
