m = load()
