refused: it is not the assignment of one attribute
