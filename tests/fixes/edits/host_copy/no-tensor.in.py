# cpu-before-numpy
y = np.load(path)
