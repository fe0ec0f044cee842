refused: the call changes more than the device
