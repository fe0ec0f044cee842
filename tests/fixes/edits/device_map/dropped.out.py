m = load(p, x=1)
