# spot: torch.zeros(n)
# devices: mask.device
def build(n, mask):
    mask = torch.zeros(n)
    return mask
