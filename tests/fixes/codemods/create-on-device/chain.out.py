# spot: torch.arange(n).repeat(2, 1)
loops = torch.arange(n, device=device).repeat(2, 1)
