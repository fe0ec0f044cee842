refused: the model is to move before the state of its optimizer is loaded
