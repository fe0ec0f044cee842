refused: the model is to move before the optimizer is made
