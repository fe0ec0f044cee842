refused: the line shows nothing that f(b) meets
