# spot: torch.zeros(3)
@other
def step(x):
    return x + torch.zeros(3)
