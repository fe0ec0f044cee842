refused: the line writes no device down, and makes no tensor
