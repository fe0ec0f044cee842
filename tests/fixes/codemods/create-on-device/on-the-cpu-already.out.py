refused: x is on the cpu already
