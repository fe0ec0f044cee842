# spot: torch.randint(0, n, (8,), device=self.device)
# devices: ;
# wanted: cpu
idx = torch.randint(0, n, (8,), device="cpu")
