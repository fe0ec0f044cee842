refused: the line reads no weight of a layer that has a name
