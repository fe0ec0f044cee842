refused: the line makes no tensor that meets one whose device it tells
