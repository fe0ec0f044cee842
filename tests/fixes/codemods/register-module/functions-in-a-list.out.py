refused: it holds what is no layer
