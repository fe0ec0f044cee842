# spot: torch.arange(n)
# device: cpu
# devices: ;
# wanted: cpu
labels = torch.arange(n)
