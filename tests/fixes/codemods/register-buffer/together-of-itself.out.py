refused: an attribute is made of what it was
