# spot: torch.Generator().manual_seed(3)
g = torch.Generator(device=device).manual_seed(3)
