refused: it is moved already
