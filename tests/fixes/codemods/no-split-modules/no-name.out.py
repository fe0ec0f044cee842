refused: the model whose blocks are to stay whole is no name
