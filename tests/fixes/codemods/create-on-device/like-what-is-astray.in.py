# spot: torch.ones_like(angles)
# wanted: cuda:0
# devices: ;
def table(width):
    angles = torch.outer(torch.arange(width), torch.arange(4))
    return torch.polar(torch.ones_like(angles), angles)
