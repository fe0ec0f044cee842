refused: the file does not show whether it is a list or a dict
