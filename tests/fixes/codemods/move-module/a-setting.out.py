refused: a setting of the program is no module
