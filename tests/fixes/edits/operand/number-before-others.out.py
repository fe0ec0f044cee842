refused: the first operands of the line read like numbers: it may be any other
