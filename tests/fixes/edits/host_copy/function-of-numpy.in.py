# cpu-before-numpy
y = np.array(x)
