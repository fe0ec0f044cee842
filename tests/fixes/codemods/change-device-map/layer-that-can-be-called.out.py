refused: the layer can be called in place of its weight being read
