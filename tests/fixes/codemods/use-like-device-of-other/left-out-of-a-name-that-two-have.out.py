refused: the call names no device
