# cpu-before-numpy
y = x.detach().numpy()
