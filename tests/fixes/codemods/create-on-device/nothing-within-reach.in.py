# spot: torch.zeros(4)
# wanted: cuda:0
# devices: ;
def start():
    return torch.zeros(4)
