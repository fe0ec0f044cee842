refused: the file does not show what is moved
