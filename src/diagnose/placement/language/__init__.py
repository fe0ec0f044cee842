"""Python: statements, expressions and calls of the user's files, on abstract values."""
