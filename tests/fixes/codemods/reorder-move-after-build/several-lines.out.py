refused: the move runs over several lines
