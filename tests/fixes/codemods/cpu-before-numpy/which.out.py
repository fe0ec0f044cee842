refused: it is not known which argument comes to the host
