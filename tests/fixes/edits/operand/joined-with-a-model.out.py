refused: model does not read like a tensor
