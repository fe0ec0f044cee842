refused: it is not seen which of what it puts there are tensors
