# spot: load_file(path)
state = load_file(path, device=str(device))
