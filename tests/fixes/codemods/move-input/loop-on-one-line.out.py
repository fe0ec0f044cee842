refused: the statement does not stand on a line of its own
