refused: each of them is moved already
