refused: n is a number or a text, and has no device
