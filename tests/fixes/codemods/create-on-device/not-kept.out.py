refused: what the call returns is not kept
