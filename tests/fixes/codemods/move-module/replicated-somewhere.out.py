refused: the file does not show which device is the first
