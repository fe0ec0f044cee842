# spot: torch.arange(n, device="cpu")
positions = torch.arange(n, device=device).unsqueeze(0)
