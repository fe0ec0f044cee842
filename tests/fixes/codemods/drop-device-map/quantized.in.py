# spot: load(name, device_map="auto", load_in_8bit=True)
model = load(name, device_map="auto", load_in_8bit=True)
