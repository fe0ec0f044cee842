# cause: checkpoint-location
# spot: torch.load(path)
state = torch.load(path)
