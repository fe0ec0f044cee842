# spot: torch.LongTensor([1, 2])
ids = torch.LongTensor([1, 2])
