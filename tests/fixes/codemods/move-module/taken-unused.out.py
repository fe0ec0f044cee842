refused: it is not known where the parameter is used
