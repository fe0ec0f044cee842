# spot: torch.device("meta")
with torch.device(device):
    model = Net()
