# cause: created-without-device
# spot: torch.arange(n).float()
# name: angles
# devices: x.device
def rotary(x, base, n):
    half = torch.arange(4)
    inverse = 1.0 / base ** (half.float() / 8)
    positions = torch.arange(n).float()
    kept = torch.arange(n + 1)
    scale = torch.tensor(2.0)
    order = torch.randperm(4)
    angles = torch.outer(positions, inverse[order]) * scale
    return x * angles.cos(), kept
