refused: an optimizer has no .to
