refused: nothing there wraps the model
