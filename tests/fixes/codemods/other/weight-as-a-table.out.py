refused: what is computed there is not what a layer computes
