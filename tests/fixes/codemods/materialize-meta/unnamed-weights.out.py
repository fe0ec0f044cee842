refused: the weights that are loaded have no name, and nothing moves the model
