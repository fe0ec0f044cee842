# cpu-before-numpy
y = np.array(x.astype('float'))
