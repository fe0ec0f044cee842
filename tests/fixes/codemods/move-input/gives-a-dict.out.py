refused: what tokenize gives has no .to
