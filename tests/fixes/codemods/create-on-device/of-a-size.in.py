# spot: torch.zeros(n)
# devices: n.device
def build(rows):
    n = len(rows)
    return torch.zeros(n)
