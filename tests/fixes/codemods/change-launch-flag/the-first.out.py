refused: what is set there is no GPU's number
