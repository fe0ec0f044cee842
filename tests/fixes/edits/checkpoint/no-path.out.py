refused: torch.load says already where to load to, or takes more than a path
