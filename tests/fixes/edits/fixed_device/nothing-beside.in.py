# use-like-device-of-other
z = z.to('cuda')
