refused: it is not known which of several values are tensors
