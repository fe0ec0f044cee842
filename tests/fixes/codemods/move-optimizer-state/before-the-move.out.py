refused: the model is moved where its state is loaded
