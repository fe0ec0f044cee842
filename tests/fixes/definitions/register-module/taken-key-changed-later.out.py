refused: the class changes self.heads later
