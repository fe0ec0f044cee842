refused: np.zeros makes no tensor
