refused: it is the parameter of no function
