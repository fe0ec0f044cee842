refused: a plain attribute of that name is set before
