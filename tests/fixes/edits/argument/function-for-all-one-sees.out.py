refused: the line shows no two operands that meet
