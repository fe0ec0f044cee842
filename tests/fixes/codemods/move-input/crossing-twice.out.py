refused: the line does not show where it enters the part
