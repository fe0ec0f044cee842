# cpu-before-numpy
scores = np.array(self.scores)
