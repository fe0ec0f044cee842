refused: self.score is a method, and has no parameters
