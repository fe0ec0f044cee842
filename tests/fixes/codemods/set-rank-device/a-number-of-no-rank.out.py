refused: the file has no name for the local rank at that line
