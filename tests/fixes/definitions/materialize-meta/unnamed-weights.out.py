refused: the model that is loaded into has no name, or the weights have none
