refused: what manual_seed gives has no .to
