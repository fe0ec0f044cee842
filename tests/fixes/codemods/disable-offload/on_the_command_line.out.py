refused: the option is chosen when the program is called
