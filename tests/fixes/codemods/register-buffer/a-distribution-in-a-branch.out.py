refused: it is not set in the class's own __init__ alone
