refused: it is not known which model the optimizer is of
