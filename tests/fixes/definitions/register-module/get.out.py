refused: the class calls self.heads.get, which ModuleDict has not
