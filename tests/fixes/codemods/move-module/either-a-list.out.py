refused: what is to be moved is no tensor or module by its form
