refused: self.mlp( is cut off
