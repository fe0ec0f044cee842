import torch


def share(model, loader, device):
    weights = sum(one.numel() for one in model.parameters())
    total = 0.0
    for rows in loader:
        total += model(rows).sum().item()  # finds: input-not-moved
    return torch.full((1,), total / weights, device=device)
