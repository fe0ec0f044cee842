refused: it is no call that moves
