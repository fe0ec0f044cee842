# use-like-device-of-other
y = x + z.cuda()
