refused: the attribute is set elsewhere, too
