refused: the line has no torch.load
