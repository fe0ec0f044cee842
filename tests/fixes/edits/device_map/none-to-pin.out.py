refused: the line has no whole device_map=
