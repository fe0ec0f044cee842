refused: the file calls set_device already
