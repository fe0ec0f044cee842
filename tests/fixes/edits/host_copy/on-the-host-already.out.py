refused: x.cpu() is placed already
