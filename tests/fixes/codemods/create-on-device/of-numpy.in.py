# spot: np.zeros(3)
z = np.zeros(3)
