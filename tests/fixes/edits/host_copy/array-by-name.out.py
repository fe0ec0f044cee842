refused: the line shows no tensor that NumPy gets
