# cpu-before-numpy
counts = np.array([row.class_num for row in found])
