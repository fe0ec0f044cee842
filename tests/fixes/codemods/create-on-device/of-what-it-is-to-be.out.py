refused: no expression for the device is in scope
