# spot: torch.device("meta")
with torch.device("meta"):
    model = Net()
