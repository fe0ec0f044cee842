refused: the weight that is read there is used more than once
