refused: what would move is cut off
