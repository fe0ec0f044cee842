refused: what is loaded is a dict of tensors, most often
