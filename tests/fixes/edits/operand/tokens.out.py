refused: the line shows no device for tokens to move to
