refused: they are moved already
