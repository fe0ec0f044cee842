refused: it is not known which of it is to be trained
