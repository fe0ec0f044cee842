refused: what it moves was moved there just before
