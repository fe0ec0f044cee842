refused: it is made of what only __init__ knows
