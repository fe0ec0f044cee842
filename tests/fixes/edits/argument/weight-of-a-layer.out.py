refused: its own weights are misplaced, and no input
