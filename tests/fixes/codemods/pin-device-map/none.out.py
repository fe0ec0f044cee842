refused: the call has no device_map=
