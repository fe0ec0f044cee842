refused: the file calls torch.compile at several places
