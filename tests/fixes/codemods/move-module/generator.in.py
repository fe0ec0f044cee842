# spot: torch.Generator(device=device).manual_seed(seed)
# devices: "cpu"
rng = torch.Generator(device=device).manual_seed(seed)
