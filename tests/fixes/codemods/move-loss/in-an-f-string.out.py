refused: what is to change stands in an f-string
