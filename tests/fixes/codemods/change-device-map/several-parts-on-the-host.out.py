refused: it is not known which entry of the map puts it there
