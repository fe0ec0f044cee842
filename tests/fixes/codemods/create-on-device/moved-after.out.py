refused: it is moved after it is made
