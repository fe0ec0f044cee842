refused: the trainer is given a model that has no name
