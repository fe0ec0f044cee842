# spot: torch.rand(3, generator=g)
z = torch.rand(3, generator=g)
