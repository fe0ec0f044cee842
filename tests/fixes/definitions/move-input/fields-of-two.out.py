refused: it is not known which of the names are tensors
