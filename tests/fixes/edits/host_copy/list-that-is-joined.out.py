refused: kept reads like a list of tensors
