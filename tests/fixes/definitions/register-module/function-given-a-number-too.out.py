refused: the functions are given more than layers that are built there
