# spot: torch.zeros(n)
# devices: scale.device
def build(n, scale: float = 1.0):
    return torch.zeros(n) * scale
