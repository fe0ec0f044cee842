refused: the call takes no map_location
