# spot: torch.Generator().manual_seed(3)
g = torch.Generator().manual_seed(3)
