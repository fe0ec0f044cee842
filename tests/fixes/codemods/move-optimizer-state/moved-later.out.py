refused: the model is moved after the state is loaded: the order has to change
