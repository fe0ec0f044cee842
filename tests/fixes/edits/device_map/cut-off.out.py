refused: the line has no device_map=
