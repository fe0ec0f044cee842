refused: the module's own __init__ runs after the statement
