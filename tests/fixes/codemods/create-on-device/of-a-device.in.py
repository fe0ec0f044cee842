# spot: torch.device("cuda:1")
device = torch.device("cuda:1")
