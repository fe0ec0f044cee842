refused: the one new layer can be moved itself
