refused: it is told a device already
