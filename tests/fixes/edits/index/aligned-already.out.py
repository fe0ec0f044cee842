refused: an index is placed already
