refused: self.scores reads like a list of tensors
