# spot: torch.zeros(n)
# devices: mask.device
def build(n):
    mask = torch.zeros(n)
    return mask
