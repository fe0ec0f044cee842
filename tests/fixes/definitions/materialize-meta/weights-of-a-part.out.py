refused: the call names no meta device
