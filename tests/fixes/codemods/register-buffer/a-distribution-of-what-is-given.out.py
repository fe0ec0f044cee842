refused: it is not seen to be made of tensors
