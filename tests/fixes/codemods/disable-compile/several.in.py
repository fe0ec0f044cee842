# spot: step
a = torch.compile(f)
b = torch.compile(g)
step = a
