# spot: torch.Generator("cpu")
g = torch.Generator(device)
