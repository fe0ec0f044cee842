refused: it is not seen how the optimizer is made
