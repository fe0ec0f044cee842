# cpu-before-numpy
y = x.cpu().numpy()
