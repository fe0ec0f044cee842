# spot: torch.from_numpy(rows).long()
ids = torch.from_numpy(rows).to(device).long()
