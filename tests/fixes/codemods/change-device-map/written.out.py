refused: no call makes a map of devices
