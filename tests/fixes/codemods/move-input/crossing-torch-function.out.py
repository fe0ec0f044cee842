refused: what it enters has no name
