refused: it moves what is there already, or a copy that nobody keeps
