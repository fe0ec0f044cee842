refused: the move needs what comes before it
