# spot: torch.device("cuda")
device = torch.device("cuda")
