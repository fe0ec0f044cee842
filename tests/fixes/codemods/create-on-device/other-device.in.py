# spot: torch.arange(n, device="cpu")
positions = torch.arange(n, device="cpu").unsqueeze(0)
