refused: the line loads no checkpoint
