refused: another bias than the layer's is added there
