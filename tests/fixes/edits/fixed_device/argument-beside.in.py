# use-like-device-of-other
h = f(x, z.to('cuda'))
