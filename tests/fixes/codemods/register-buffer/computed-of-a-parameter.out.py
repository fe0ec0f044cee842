refused: what is computed of a Parameter is none, and may be meant to be
