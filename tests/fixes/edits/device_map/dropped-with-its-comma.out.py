m = load(p)
