refused: what is there is no device by its form
