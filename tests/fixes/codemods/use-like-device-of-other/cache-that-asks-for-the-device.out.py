refused: no other device is in scope
