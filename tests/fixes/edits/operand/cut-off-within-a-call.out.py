refused: what is to change is cut off
