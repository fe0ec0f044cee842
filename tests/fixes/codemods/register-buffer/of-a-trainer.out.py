refused: the class is no module
