refused: the statement does not load the state of one optimizer
