refused: the functions stand beside other things
