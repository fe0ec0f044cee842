refused: what is on meta has no values to copy
