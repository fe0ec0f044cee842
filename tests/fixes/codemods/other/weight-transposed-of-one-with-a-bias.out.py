refused: the layer may add a bias, which is not added there
